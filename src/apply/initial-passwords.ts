import type { JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { Operation } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { generatePassword } from "./password.ts";

/** A password that is sealed in the transaction of the intent that needs it first. */
export interface SealedPassword {
  ref: string;
  version: number;
  salt: string;
  values: JsonObject;
}

/** The first passwords of the accounts that an operation makes: those that were generated before, else new ones. */
export async function initialPasswords(
  deps: ApplyDependencies,
  operation: Operation,
): Promise<{ values: Map<string, string>; toSeal: SealedPassword[] }> {
  const values = new Map<string, string>();
  const toSeal: SealedPassword[] = [];
  if (deps.settings.passwordSource !== "generate") return { values, toSeal };
  for (const staff of kindOf(operation).newAccounts(operation)) {
    const key = formatKey(staff);
    const ref = `initial-password/${key}`;
    const kept = await deps.ledger.private.latestSealed(ref);
    const password = kept.values?.["password"];
    // One that the service may have refused for its length is not sent again: the length is a setting.
    if (typeof password === "string" && password.length === deps.settings.generatedPasswordLength) {
      values.set(key, password);
      continue;
    }
    const generated = generatePassword(deps.settings.generatedPasswordLength, deps.random);
    values.set(key, generated);
    toSeal.push({ ref, version: kept.nextVersion, salt: deps.random.hex(16), values: { password: generated } });
  }
  return { values, toSeal };
}
