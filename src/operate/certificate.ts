import { createPrivateKey, X509Certificate } from "node:crypto";
import { toInstant, type Clock } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { readRegular } from "../base/regular-file.ts";
import { pathFrom } from "./application.ts";

export interface Certificate {
  cert: string;
  key: string;
  /** Usable, but expired or not yet valid. */
  warning: Problem | undefined;
}

export function readCertificate(
  tls: { certificate: string; key: string },
  directory: string,
  clock: Pick<Clock, "now">,
): Certificate {
  const cert = textOf(pathFrom(directory, tls.certificate), "serve.tls.certificate");
  const key = textOf(pathFrom(directory, tls.key), "serve.tls.key");
  const first = parsed(
    "serve.tls.certificate",
    "does not contain a certificate in PEM format",
    () => new X509Certificate(cert),
  );
  const own = parsed("serve.tls.key", "does not contain a private key in PEM format without a passphrase", () =>
    createPrivateKey(key),
  );
  if (!first.checkPrivateKey(own))
    throw problem("serve.tls.key", "is not the key of the certificate in serve.tls.certificate");
  return { cert, key, warning: timeProblem(first, clock.now()) };
}

function timeProblem(certificate: X509Certificate, now: number): Problem | undefined {
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (now > to) return problem("serve.tls.certificate", `has expired at ${toInstant(to)}; browsers refuse it`);
  if (now < from)
    return problem("serve.tls.certificate", `is valid only from ${toInstant(from)} on; browsers refuse it`);
  return undefined;
}

function textOf(path: string, place: string): string {
  try {
    return readRegular(path).toString("utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
    throw problem(place, `is ${path}, which cannot be read (${why})`);
  }
}

function parsed<T>(place: string, what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw problem(place, what);
  }
}

function problem(place: string, what: string): Problem {
  return new Problem({
    code: "web.certificate",
    message: `${place} ${what}`,
    cure: "put a valid certificate and its key there, and start `crm-sync serve` again",
    exitCode: exitCodes.configuration,
    place,
  });
}
