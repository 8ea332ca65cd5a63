import type { JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { Operation } from "../engine/operation.ts";
import { typeOf } from "../engine/registry.ts";
import { initialPasswordRef, newPasswordRef } from "../engine/sealed-passwords.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { generatePassword } from "./password.ts";

/** A password that is sealed in the transaction of the intent that needs it first. */
export interface SealedPassword {
  ref: string;
  version: number;
  salt: string;
  values: JsonObject;
}

/** Passwords that an operation is bound with, by the key of the staff record, and those that are sealed with it. */
export interface MadePasswords {
  initial: ReadonlyMap<string, string>;
  anew: ReadonlyMap<string, string>;
  toSeal: SealedPassword[];
}

/** The passwords that the program makes for an operation. */
export async function madePasswords(deps: ApplyDependencies, operation: Operation): Promise<MadePasswords> {
  const toSeal: SealedPassword[] = [];
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

/** The first passwords of the accounts that an operation makes: those that were generated before, else new ones. */
async function initialPasswords(
  deps: ApplyDependencies,
  operation: Operation,
  toSeal: SealedPassword[],
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  if (deps.settings.passwordSource !== "generate") return values;
  for (const staff of typeOf(operation).can.credentials?.accounts?.(operation) ?? []) {
    const key = formatKey(staff);
    const ref = initialPasswordRef({ staff, customer: operation.customer });
    const kept = await deps.ledger.private.latestSealed(ref);
    const password = kept.values?.["password"];
    // One that the service may have refused for its length is not sent again: the length is a setting.
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

function generated({ settings, random }: ApplyDependencies): string {
  return generatePassword(settings.generatedPasswordLength, random);
}

function sealedPassword({ random }: ApplyDependencies, ref: string, version: number, password: string): SealedPassword {
  return { ref, version, salt: random.hex(16), values: { password } };
}
