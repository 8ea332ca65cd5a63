import type { SealedValues } from "../ledger/private/private-values.ts";
import { formatKey } from "../crm/keys.ts";
import type { Operation } from "./model/operation.ts";
import { typeOf } from "./model/registry.ts";
import { initialPasswordRef, newPasswordRef } from "./model/references.ts";
import type { EngineDependencies } from "./customer.ts";
import type { Randomness } from "../base/ids.ts";

export interface MadePasswords {
  initial: ReadonlyMap<string, string>;
  anew: ReadonlyMap<string, string>;
  toSeal: SealedValues[];
}

export async function madePasswords(
  { ledger, settings, random }: EngineDependencies,
  operation: Operation,
): Promise<MadePasswords> {
  const { customer } = operation;
  const { accounts, passwords } = typeOf(operation).can.credentials ?? {};
  const length = settings.generatedPasswordLength;
  const [initial, anew] = [new Map<string, string>(), new Map<string, string>()];
  const toSeal: SealedValues[] = [];
  const make = (ref: string, version: number): string => {
    const password = generatePassword(length, random);
    toSeal.push({ ref, version, salt: random.hex(16), values: { password } });
    return password;
  };
  for (const staff of settings.passwordSource === "generate" ? (accounts?.(operation) ?? []) : []) {
    const ref = initialPasswordRef({ staff, customer });
    const { values, nextVersion } = await ledger.private.latestSealed(ref);
    const kept = values?.["password"];
    // The service may have rejected the old length, so a changed setting makes a new password.
    const isUsable = typeof kept === "string" && kept.length === length;
    initial.set(formatKey(staff), isUsable ? kept : make(ref, nextVersion));
  }
  for (const staff of passwords?.(operation) ?? []) {
    const ref = newPasswordRef({ staff, customer });
    const { nextVersion } = await ledger.private.latestSealed(ref);
    anew.set(formatKey(staff), make(ref, nextVersion));
  }
  return { initial, anew, toSeal };
}

const lower = "abcdefghijkmnpqrstuvwxyz";
const upper = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const digits = "23456789";
const all = lower + upper + digits;

/** Letters and digits that are hard to confuse, at least one of each kind. */
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
