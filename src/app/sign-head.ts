import type { KeyObject } from "node:crypto";
import { exitCodes, Problem } from "../base/errors.ts";
import type { SignHead } from "../inquiry/statement/statement.ts";
import { signedNote, signingKey } from "../ledger/audit/checkpoint.ts";
import type { Application } from "./application.ts";

/** What of the application signing needs. */
export interface SigningPlace {
  config: { audit: Pick<Application["config"]["audit"], "signKey"> };
  secrets: Pick<Application["secrets"], "reveal">;
}

/** The key that signs, and the name that it signs by; a Problem where whoever asks may not have it. */
export function signerOf(
  { config, secrets }: SigningPlace,
  ledger: string | null,
): { key: KeyObject; origin: string } | Problem | undefined {
  const { signKey } = config.audit;
  if (signKey === undefined) return undefined;
  const secret = revealed(secrets, signKey);
  if (secret instanceof Problem) return secret;
  const key = signingKey(secret);
  if (key === undefined) throw noSigningKey;
  return { key, origin: originOf(ledger) };
}

/**
 * Signs the head that a statement is printed with, as of its last entry: the same head and key give the same bytes. It
 * is printed without a signature where there is no key, or whoever asks may not have it.
 */
export function headSigner(place: SigningPlace): SignHead {
  return (head) => {
    const found = signerOf(place, head.ledger);
    if (found === undefined || found instanceof Problem) return undefined;
    return signedNote({ ...head, origin: found.origin }, found.key);
  };
}

/** Whose record a checkpoint is of. */
export function originOf(ledger: string | null): string {
  return `crm-sync/${ledger ?? "ledger"}`;
}

/** A secret, or why whoever asks does not have it. */
function revealed(secrets: SigningPlace["secrets"], reference: string): string | Problem {
  try {
    return secrets.reveal(reference);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** What `audit.signKey` names is no key that can sign. */
const noSigningKey = new Problem({
  code: "config.no-signing-key",
  message: "`audit.signKey` does not name an Ed25519 private key in PEM format (PKCS #8)",
  cure: "make a key with `openssl genpkey -algorithm ed25519 -out audit.pem`, or remove the setting",
  exitCode: exitCodes.configuration,
});
