import { checkStaffTexts } from "../../contract/limits.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { parseTerm, termDisagreement } from "../../contract/term.ts";
import type { CanonicalRecord, Feature, Instance, InstanceWith, Order, Staff } from "../../crm/model.ts";
import { buildAssets } from "../../crm/tree.ts";

/** Why a canonical record is unusable. It has ids, fields and lengths, never private values. */
export interface ValidationFault {
  field: string;
  code: string;
  message: string;
  expected: string;
}

/**
 * Checks a record beyond its shape. An order's instances must make a tree and their terms must agree (A22). A staff
 * member's texts must fit M1 (lengths, letters and digits; A29, A31). Returns the first fault.
 */
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

/**
 * The first fault of an order's instances, whatever tree they make. It may be a word that the configured lists do not
 * have, terms that disagree, or a trial without an end. Lists may change after a record was ingested, so an order is
 * checked again before it is placed.
 */
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
      return packageFault(instance);
    case "feature":
      return featureFault(instance.parentId, instance);
    default:
      return undefined;
  }
}

function featureFault(productId: string, feature: Feature): ValidationFault | undefined {
  if (!feature.trial || feature.trialEnd !== undefined) return undefined;
  return {
    field: `instances[${productId}].features[${feature.code}].trialEnd`,
    code: "no-trial-end",
    message: `feature ${feature.code} of product ${productId} is a trial, but the end of the trial is missing`,
    expected: "the end of the trial",
  };
}

function packageFault(item: Extract<Instance, { kind: "package" }>): ValidationFault | undefined {
  const term = parseTerm(item.term);
  if (term.ok) return undefined;
  return {
    field: `instances[${item.id}].term`,
    code: "bad-term",
    message: `the term of package ${item.id} ${term.error}`,
    expected: "years-months-days",
  };
}

function productFault(
  product: Extract<InstanceWith<unknown>, { kind: "product" }>,
  settings: AssumptionSettings,
): ValidationFault | undefined {
  const at = (field: string): string => `instances[${product.id}].${field}`;
  if (product.gmsPid === undefined && product.appKey === undefined) {
    return {
      field: at("gmsPid"),
      code: "no-product-uri",
      message: `product ${product.id} has no gmsPid and no appKey; it needs one of them`,
      expected: "one of gmsPid and appKey",
    };
  }
  if (settings.productTypes !== undefined && !settings.productTypes.includes(product.type)) {
    return {
      field: at("type"),
      code: "unlisted-word",
      message:
        `product ${product.id} has the product type ${quoted(product.type)}, which ` +
        "assumptions.productTypes does not list",
      expected: settings.productTypes.join(", "),
    };
  }
  const { timeUnits = {} } = settings;
  const unit = Object.hasOwn(timeUnits, product.timeUnit) ? timeUnits[product.timeUnit] : undefined;
  if (settings.timeUnits !== undefined && unit === undefined) {
    return {
      field: at("timeUnit"),
      code: "unlisted-word",
      message:
        `product ${product.id} has the time unit ${quoted(product.timeUnit)}, which ` +
        "assumptions.timeUnits does not list",
      expected: Object.keys(timeUnits).join(", "),
    };
  }
  const wrongTerm = termFault(product, unit);
  if (wrongTerm !== undefined) return wrongTerm;
  if (product.trial && product.trialEnd === undefined) {
    return {
      field: at("trialEnd"),
      code: "no-trial-end",
      message: `product ${product.id} is a trial, but the end of the trial is missing`,
      expected: "the end of the trial",
    };
  }
  for (const feature of product.features) {
    const wrong = featureFault(product.id, feature);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** A term that cannot be parsed, or that disagrees with the unit, the quantity and the limits. */
function termFault(
  product: Extract<InstanceWith<unknown>, { kind: "product" }>,
  unit: Parameters<typeof termDisagreement>[0]["unit"] | undefined,
): ValidationFault | undefined {
  const field = `instances[${product.id}].term`;
  const term = parseTerm(product.term);
  if (!term.ok) {
    return {
      field,
      code: "bad-term",
      message: `the term of product ${product.id} ${term.error}`,
      expected: "years-months-days",
    };
  }
  const disagreement = termDisagreement({
    term: term.value,
    unit: unit ?? "none",
    quantity: product.timeUnitQuantity,
    limitStart: product.limitStart,
    limitEnd: product.limitEnd,
  });
  if (disagreement !== undefined) {
    return {
      field,
      code: "terms-disagree",
      message: `product ${product.id}: ${disagreement}`,
      expected: "a term, a unit × quantity and limits that agree",
    };
  }
  return undefined;
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
