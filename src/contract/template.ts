import { failed, ok, type Result } from "../base/errors.ts";
import type { AssumptionSettings } from "./assumption-settings.ts";
import type { LicenseType } from "./vocabulary.ts";

const placeholder = /\{([A-Za-z]+)\}/g;

export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(placeholder)].map((match) => match[1] ?? ""))];
}

/** Throws a RangeError if a value is missing: a half-filled number must never be sent. */
export function fillTemplate(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return template.replaceAll(placeholder, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === "")
      throw new RangeError(`the template "${template}" has no value for {${name}}`);
    return value;
  });
}

/** The customer that takes orders of a licence type (A12). Fails unless exactly one fits. */
export function selectCustomer<Customer extends { isDefault: boolean }>(
  customers: readonly Customer[],
  licenseType: LicenseType,
  settings: Pick<AssumptionSettings, "customerSelection">,
): Result<Customer, { hits: number; selector: "default" | "non-default" }> {
  const selector = settings.customerSelection.byLicenseType[licenseType] ?? settings.customerSelection.default;
  const hits = customers.filter((customer) => customer.isDefault === (selector === "default"));
  const [hit] = hits;
  return hit !== undefined && hits.length === 1 ? ok(hit) : failed({ hits: hits.length, selector });
}

export function assetNumberOf(
  digits: string,
  licenseType: LicenseType,
  settings: Pick<AssumptionSettings, "assetNumberTemplates">,
): string {
  const { byLicenseType, default: usual } = settings.assetNumberTemplates;
  return fillTemplate(byLicenseType[licenseType] ?? usual, { digits });
}
