import { checkStaffTexts } from "../../contract/limits.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { parseTerm, termDisagreement } from "../../contract/term.ts";
import type { CanonicalRecord, Feature, InstanceWith, Order, Staff } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";

export interface ValidationFault {
  field: string;
  code: string;
  message: string;
  expected: string;
}

/** The first fault beyond the shape: an order's tree and terms (A22), a person's texts (A29, A31). */
export function validate(item: CanonicalRecord, settings: AssumptionSettings): ValidationFault | undefined {
  if (item.stream === "orders") return validateOrder(item.record, settings);
  if (item.stream === "staff") return validateStaff(item.record, settings);
  return undefined;
}

function validateOrder(order: Order, settings: AssumptionSettings): ValidationFault | undefined {
  const { faults } = buildAssets(order.instances);
  const [fault] = faults;
  if (fault !== undefined) {
    const more = faults.length - 1;
    return {
      field: `instances[${fault.instanceId}]`,
      code: fault.code,
      message: more > 0 ? `${fault.message} (and ${more} more)` : fault.message,
      expected: "instances that make a tree: assets, packages under them, products under both",
    };
  }
  return instancesFault(order.instances, settings);
}

/** The lists may have changed since ingest, so an order is checked again before it is placed. */
export function instancesFault(
  instances: readonly InstanceWith<unknown>[],
  settings: AssumptionSettings,
): ValidationFault | undefined {
  for (const instance of instances) {
    const wrong = instanceFault(instance, settings);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function instanceFault(instance: InstanceWith<unknown>, settings: AssumptionSettings): ValidationFault | undefined {
  switch (instance.kind) {
    case "product":
      return productFault(instance, settings);
    case "package":
      return badTerm(`package ${instance.id}`, instance);
    case "feature":
      return featureFault(instance.parentId, instance);
    default:
      return undefined;
  }
}

function trialFault(
  field: string,
  what: string,
  { trial, trialEnd }: Pick<Feature, "trial" | "trialEnd">,
): ValidationFault | undefined {
  if (!trial || trialEnd !== undefined) return undefined;
  const message = `${what} is a trial, but the end of the trial is missing`;
  return { field, code: "no-trial-end", message, expected: "the end of the trial" };
}

function featureFault(productId: string, feature: Feature): ValidationFault | undefined {
  const field = `instances[${productId}].features[${feature.code}].trialEnd`;
  return trialFault(field, `feature ${feature.code} of product ${productId}`, feature);
}

function badTerm(what: string, { id, term }: { id: string; term: string }): ValidationFault | undefined {
  const parsed = parseTerm(term);
  if (parsed.ok) return undefined;
  const message = `the term of ${what} ${parsed.error}`;
  return { field: `instances[${id}].term`, code: "bad-term", message, expected: "years-months-days" };
}

type Product = Extract<InstanceWith<unknown>, { kind: "product" }>;

function productFault(product: Product, settings: AssumptionSettings): ValidationFault | undefined {
  const { id, gmsPid, appKey, type, timeUnit, features } = product;
  const at = (field: string): string => `instances[${id}].${field}`;
  if (gmsPid === undefined && appKey === undefined) {
    const message = `product ${id} has no gmsPid and no appKey; it needs one of them`;
    return { field: at("gmsPid"), code: "no-product-uri", message, expected: "one of gmsPid and appKey" };
  }
  const unlisted = (field: string, what: string, list: string, words: readonly string[]): ValidationFault => {
    const message = `product ${id} has the ${what}, which assumptions.${list} does not list`;
    return { field: at(field), code: "unlisted-word", message, expected: words.join(", ") };
  };
  const { productTypes, timeUnits } = settings;
  if (productTypes?.includes(type) === false)
    return unlisted("type", `product type ${quoted(type)}`, "productTypes", productTypes);
  const unit = timeUnits !== undefined && Object.hasOwn(timeUnits, timeUnit) ? timeUnits[timeUnit] : undefined;
  if (timeUnits !== undefined && unit === undefined)
    return unlisted("timeUnit", `time unit ${quoted(timeUnit)}`, "timeUnits", Object.keys(timeUnits));
  const wrong =
    badTerm(`product ${id}`, product) ??
    termsFault(product, unit) ??
    trialFault(at("trialEnd"), `product ${id}`, product);
  if (wrong !== undefined) return wrong;
  return features.map((feature) => featureFault(id, feature)).find((fault) => fault !== undefined);
}

function termsFault(
  product: Product,
  unit: Parameters<typeof termDisagreement>[0]["unit"] | undefined,
): ValidationFault | undefined {
  const { id, timeUnitQuantity: quantity, limitStart, limitEnd } = product;
  const term = parseTerm(product.term);
  if (!term.ok) return undefined;
  const disagreement = termDisagreement({ term: term.value, unit: unit ?? "none", quantity, limitStart, limitEnd });
  if (disagreement === undefined) return undefined;
  const expected = "a term, a unit × quantity and limits that agree";
  return {
    field: `instances[${id}].term`,
    code: "terms-disagree",
    message: `product ${id}: ${disagreement}`,
    expected,
  };
}

function quoted(word: string): string {
  return JSON.stringify(word.length > 40 ? `${word.slice(0, 40)}…` : word);
}

function validateStaff(staff: Staff, settings: AssumptionSettings): ValidationFault | undefined {
  const [problem] = checkStaffTexts(staff, {
    enterpriseCodeLength: settings.enterpriseCodeMaxLength,
    lengthUnit: settings.lengthUnit,
  });
  if (problem === undefined) return undefined;
  return {
    field: problem.field,
    code: `bad-${problem.field === "userName" ? "user-name" : problem.field}`,
    message: `the ${problem.field} of staff ${staff.namespace}/${staff.id} ${problem.problem}`,
    expected: "a value that the member-center takes (M1)",
  };
}
