/** A reason to stop that a person can understand and remove: shown as it is, without a stack trace. */
export class StartError extends Error {}
