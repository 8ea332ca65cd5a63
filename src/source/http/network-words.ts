/** Codes of network errors, and what they mean for whoever asked. */
const words: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/u, "cannot be reached: nothing listens at this address"],
  [/^(?:ENOTFOUND|EAI_)/u, "cannot be reached: the name of its host is not known"],
  [/^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/u, "cannot be reached from here"],
  [
    /^(?:UND_ERR_(?:SOCKET|ABORTED|RES_CONTENT_LENGTH_MISMATCH)|ECONNRESET|ECONNABORTED|EPIPE)$/u,
    "gave no whole answer: the connection broke off in the middle of the answer",
  ],
  [/^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/u, "took too long to answer"],
  [/^Z_/u, "gave an incomplete answer: its compressed data is damaged or cut off"],
  [/^HPE_/u, "answers with something that is no HTTP"],
  [/CERT|SELF_SIGNED|ISSUER|^ERR_TLS/u, "shows a certificate that is not trusted"],
  [/SSL|^EPROTO$/u, "does not speak TLS with us"],
];

/**
 * What a network error means, with its code behind. Its message is not used: it may quote a header or a body.
 */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "gave no answer";
  if (thrown.name === "TimeoutError") return "took too long to answer";
  const code = codeOf(thrown);
  if (code === undefined) return "gave no answer";
  const known = words.find(([pattern]) => pattern.test(code))?.[1];
  return `${known ?? "cannot be reached, or the connection broke off"} (${code})`;
}

/** The code of an error, or of the first one where several addresses of a host were tried. */
function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  return thrown instanceof AggregateError ? codeOf(thrown.errors[0]) : undefined;
}
