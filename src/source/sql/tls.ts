import { X509Certificate } from "node:crypto";
import { checkServerIdentity } from "node:tls";
import type { ConnectionOptions } from "node:tls";
import type { Failure, Server, TlsFault } from "./dialect.ts";

/** By codes and by words: a driver may put a code of its own in the place of that of the certificate. */
const faults: readonly (readonly [RegExp, TlsFault])[] = [
  [/HANDSHAKE_NO_SSL_SUPPORT|EENCRYPT|does not support SSL/u, "none-offered"],
  [/CERT_HAS_EXPIRED|certificate has expired/u, "expired"],
  [/CERT_NOT_YET_VALID|certificate is not yet valid/u, "not-yet-valid"],
  [/ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames|HOSTNAME_MISMATCH/u, "other-name"],
  [/UNABLE_TO_|SELF_SIGNED_|unable to (?:get|verify)|self[- ]signed/u, "unknown-authority"],
  [/^(?:ERR_TLS_|ERR_SSL_|CERT_|EPROTO|HANDSHAKE_SSL_ERROR)/u, "other"],
];

/** What kept TLS from being trusted; undefined where it was something else. */
export function tlsFailure(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  const tls = faults.find(([pattern]) => pattern.test(code) || pattern.test(thrown.message))?.[1];
  if (tls === undefined) return undefined;
  const name = "host" in thrown && typeof thrown.host === "string" ? thrown.host : undefined;
  return { kind: "tls", tls, name, code: code === "" || tls === "none-offered" ? undefined : code };
}

/** How a certificate is checked: by its authority, and by the name that is written, or by that of the host. */
export function verifying({ host, tls }: Pick<Server, "host" | "tls">): ConnectionOptions {
  const { ca, serverName } = tls ?? {};
  return {
    rejectUnauthorized: true,
    // A driver may say another name than the one that is written.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(serverName ?? host, certificate),
    ...(ca === undefined ? {} : { ca }),
  };
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

/** Whether a text holds certificates, and good ones: without any, those of the system would be trusted. */
export function holdsCertificates(pem: string): boolean {
  const found = pem.match(certificate) ?? [];
  try {
    return found.length > 0 && found.every((one) => new X509Certificate(one).raw.length > 0);
  } catch {
    return false;
  }
}
