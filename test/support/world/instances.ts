import type { z } from "zod";
import { instanceSchema, type Instance } from "../../../src/crm/model.ts";

type Raw = z.input<typeof instanceSchema>;
type RawOf<Kind extends Raw["kind"]> = Extract<Raw, { kind: Kind }>;

/** An asset instance as a CRM keeps it; stand-alone certificate, one number. */
export function asset(id: string, fields: Partial<RawOf<"asset">> = {}): Instance {
  return instanceSchema.parse({ kind: "asset", id, licenseType: "softkey", ...fields });
}

/** A package with the number `N-<id>` and a term of one year. */
export function bundle(id: string, parentId: string, fields: Partial<RawOf<"package">> = {}): Instance {
  return instanceSchema.parse({
    kind: "package",
    id,
    parentId,
    number: `N-${id}`,
    name: `Package ${id}`,
    term: "1-0-0",
    ...fields,
  });
}

/** A tool for one node and one year. */
export function product(id: string, parentId: string, fields: Partial<RawOf<"product">> = {}): Instance {
  return instanceSchema.parse({
    kind: "product",
    id,
    parentId,
    name: `Product ${id}`,
    gmsPid: `pid-${id}`,
    type: "tool",
    nodes: 1,
    timeUnit: "YEAR",
    timeUnitQuantity: 1,
    term: "1-0-0",
    ...fields,
  });
}

export function feature(code: string, parentId: string, fields: Partial<RawOf<"feature">> = {}): Instance {
  return instanceSchema.parse({
    kind: "feature",
    parentId,
    code,
    name: `Feature ${code}`,
    value: "on",
    valueType: "text",
    ...fields,
  });
}

export function extension(code: string, parentId: string, value = "yes"): Instance {
  return instanceSchema.parse({ kind: "extension", parentId, code, value });
}
