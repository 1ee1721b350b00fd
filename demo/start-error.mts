/** An error that the person can remove: its message is printed without a stack trace. */
export class StartError extends Error {}
