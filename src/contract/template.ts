import { failed, ok } from "../base/errors.ts";
import type { Result } from "../base/errors.ts";
import type { AssumptionSettings } from "./assumption-settings.ts";
import type { LicenseType } from "./vocabulary.ts";

/** A text with placeholders in braces, such as `CRM-{id}`. */
const placeholder = /\{([A-Za-z]+)\}/g;

/** The placeholders of a template, each once. */
export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(placeholder)].map((match) => match[1] ?? ""))];
}

/** Texts and, between them, the names of placeholders. */
interface Template {
  texts: readonly string[];
  names: readonly string[];
}

/** The templates of a configuration, which are filled again and again. */
const known = new Map<string, Template>();
const mostKnown = 1_000;

function templateOf(text: string): Template {
  const before = known.get(text);
  if (before !== undefined) return before;
  const parts = text.split(placeholder);
  const template = {
    texts: parts.filter((_, index) => index % 2 === 0),
    names: parts.filter((_, index) => index % 2 === 1),
  };
  if (known.size < mostKnown) known.set(text, template);
  return template;
}

/** Fills a template. Throws a RangeError for a placeholder without a value: a half-filled number must never be sent. */
export function fillTemplate(template: string, values: Readonly<Record<string, string | undefined>>): string {
  const { texts, names } = templateOf(template);
  let filled = texts[0] ?? "";
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === "")
      throw new RangeError(`the template "${template}" has no value for {${name}}`);
    filled += value + (texts[index + 1] ?? "");
  }
  return filled;
}

/**
 * The customer of an enterprise that takes an order of a licence type (A12). Not exactly one hit fails with the number
 * of hits.
 */
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

/** The asset number that the digits of E9 make for a licence type (A25). */
export function assetNumberOf(
  digits: string,
  licenseType: LicenseType,
  settings: Pick<AssumptionSettings, "assetNumberTemplates">,
): string {
  const { byLicenseType, default: usual } = settings.assetNumberTemplates;
  return fillTemplate(byLicenseType[licenseType] ?? usual, { digits });
}
