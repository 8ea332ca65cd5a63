import { identifierOf } from "../../src/sandbox/answers.ts";
import type { SimulatedServices } from "../simulation/services.ts";
import type { Draws } from "../simulation/timeline.ts";

/** What somebody did on the platform past every call, and what readings show no more; of an account its login. */
interface HandDone {
  what: string;
  missing?: { level: "product" | "assignment" | "staff"; subject: string };
}

/** Undefined where there was nothing to do. */
type HandWork = (services: SimulatedServices, draws: Draws) => HandDone | undefined;

function rowsIn<Row>({ store }: SimulatedServices, sql: string): Row[] {
  return store.prepare<[], Row>(sql).all();
}

/** The program tells of it, and changes nothing because of it. */
export const handWorks: Record<string, HandWork> = {
  "takes a product away": (services, draws) => {
    // What M7 shows with nothing in it says nothing.
    const found = draws.pick(
      rowsIn<{ assetNum: string; crmProductId: string }>(
        services,
        `SELECT asset_number AS assetNum, MIN(crm_product_id) AS crmProductId FROM products
         JOIN assets ON assets.id = asset_id WHERE products.removed_by IS NULL AND assets.removed_by IS NULL
         GROUP BY asset_number HAVING COUNT(*) > 1 ORDER BY asset_number`,
      ),
    );
    if (found === undefined) return undefined;
    services.hand({ action: "drop-product", ...found });
    const subject = `${found.crmProductId} under asset number ${found.assetNum}`;
    return { what: subject, missing: { level: "product", subject } };
  },
  "takes an asset away": (services, draws) => {
    const found = draws.pick(
      rowsIn<{ assetNum: string }>(
        services,
        "SELECT asset_number AS assetNum FROM assets WHERE removed_by IS NULL ORDER BY asset_number",
      ),
    );
    if (found === undefined) return undefined;
    services.hand({ action: "drop-asset", ...found });
    return { what: found.assetNum, missing: { level: "product", subject: `under asset number ${found.assetNum}` } };
  },
  "frees a seat": (services, draws) => {
    const found = draws.pick(
      rowsIn<{ assetNum: string }>(
        services,
        `SELECT asset_number AS assetNum FROM assets WHERE removed_by IS NULL AND holder_id IS NOT NULL
         ORDER BY asset_number`,
      ),
    );
    if (found === undefined) return undefined;
    services.hand({ action: "move-holder", ...found, memberGlobalId: null });
    return { what: found.assetNum, missing: { level: "assignment", subject: `under asset number ${found.assetNum}` } };
  },
  "deletes an account": (services, draws) => {
    const found = draws.pick(
      rowsIn<{ id: number; login: string }>(
        services,
        "SELECT id, user_name AS login FROM staff WHERE deleted = 0 AND role = 'added' ORDER BY id",
      ),
    );
    if (found === undefined) return undefined;
    const memberGlobalId = identifierOf("member", found.id);
    services.hand({ action: "delete-person", memberGlobalId });
    return { what: memberGlobalId, missing: { level: "staff", subject: found.login } };
  },
  "makes an account": (services, draws) => {
    const found = draws.pick(rowsIn<{ id: number }>(services, "SELECT id FROM enterprises ORDER BY id"));
    if (found === undefined) return undefined;
    const enterpriseGlobalId = identifierOf("enterprise", found.id);
    const made = services.hand({ action: "add-person", enterpriseGlobalId, userName: `hand${madeByHand(services)}` });
    return { what: made["memberGlobalId"] ?? "" };
  },
};

/** Accounts that somebody made by hand and that are there: no program takes them away. */
export function madeByHand(services: SimulatedServices): number {
  const [row] = rowsIn<{ count: number }>(
    services,
    "SELECT COUNT(*) AS count FROM staff WHERE deleted = 0 AND role = 'by-hand'",
  );
  return row?.count ?? 0;
}
