import type { SealedValues } from "../ledger/private/private-values.ts";
import { formatKey } from "../crm/keys.ts";
import type { Operation } from "./model/operation.ts";
import { typeOf } from "./model/registry.ts";
import { initialPasswordRef, newPasswordRef } from "./model/references.ts";
import type { EngineDependencies } from "./customer.ts";
import type { Randomness } from "../base/ids.ts";

/** Passwords that an operation is bound with, by the key of the staff record, and those to seal with its first intent. */
export interface MadePasswords {
  initial: ReadonlyMap<string, string>;
  anew: ReadonlyMap<string, string>;
  toSeal: SealedValues[];
}

/** The initial and new passwords that an operation needs. */
export async function madePasswords(deps: EngineDependencies, operation: Operation): Promise<MadePasswords> {
  const toSeal: SealedValues[] = [];
  const initial = await initialPasswords(deps, operation, toSeal);
  const anew = new Map<string, string>();
  const { customer } = operation;
  for (const staff of typeOf(operation).can.credentials?.passwords?.(operation) ?? []) {
    const key = formatKey(staff);
    const ref = newPasswordRef({ staff, customer });
    const { nextVersion } = await deps.ledger.private.latestSealed(ref);
    anew.set(key, generated(deps));
    toSeal.push(sealedPassword(deps, ref, nextVersion, anew.get(key) ?? ""));
  }
  return { initial, anew, toSeal };
}

/** The first passwords of the accounts that an operation creates: the generated ones if they exist, else new ones. */
async function initialPasswords(
  deps: EngineDependencies,
  operation: Operation,
  toSeal: SealedValues[],
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  if (deps.settings.passwordSource !== "generate") return values;
  for (const staff of typeOf(operation).can.credentials?.accounts?.(operation) ?? []) {
    const key = formatKey(staff);
    const ref = initialPasswordRef({ staff, customer: operation.customer });
    const kept = await deps.ledger.private.latestSealed(ref);
    const password = kept.values?.["password"];
    // The service may have refused a password for its length. If the length setting changed since, a new one is made.
    if (typeof password === "string" && password.length === deps.settings.generatedPasswordLength) {
      values.set(key, password);
      continue;
    }
    const made = generated(deps);
    values.set(key, made);
    toSeal.push(sealedPassword(deps, ref, kept.nextVersion, made));
  }
  return values;
}

function generated({ settings, random }: EngineDependencies): string {
  return generatePassword(settings.generatedPasswordLength, random);
}

function sealedPassword({ random }: EngineDependencies, ref: string, version: number, password: string): SealedValues {
  return { ref, version, salt: random.hex(16), values: { password } };
}

const lower = "abcdefghijkmnpqrstuvwxyz";
const upper = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const digits = "23456789";
const all = lower + upper + digits;

/** A password of letters and digits that are hard to confuse, with at least one of each kind. */
export function generatePassword(length: number, random: Randomness): string {
  const bytes = (random.hex(length * 2).match(/.{4}/g) ?? []).map((part) => Number.parseInt(part, 16));
  const pick = (alphabet: string, value: number | undefined): string => alphabet[(value ?? 0) % alphabet.length] ?? "";
  const characters = bytes.map((value) => pick(all, value));
  const places = [0, 1, 2].map((place) => place % length);
  [lower, upper, digits].forEach((alphabet, index) => {
    const place = places[index];
    if (place !== undefined) characters[place] = pick(alphabet, bytes[place]);
  });
  return characters.join("");
}
