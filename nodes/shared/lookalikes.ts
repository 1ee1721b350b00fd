/** When two texts look the same to a person: what references, employee numbers and wallets are compared by. */

/** What nobody sees: controls, format characters, halves of surrogate pairs and fillers. */
export const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Every kind of dash, and the minus. */
export const dashes = /[\p{Pd}\u2212\u02d7]/gu;

/** Three times: some letters have a capital or a small one that leads to a third one, such as ẞ, ß and SS. */
export const withoutCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase();
