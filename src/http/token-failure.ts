/** No usable token. The text names where it should have come from, never a token. */
export class TokenFailure extends Error {}
