import { identifierOf } from "../../src/sandbox/answers.ts";
import type { SimulatedServices } from "../simulation/services.ts";
import type { Draws } from "../simulation/timeline.ts";

/** What somebody does on the platform past every call; answers what was done, or undefined where there was nothing. */
type HandWork = (services: SimulatedServices, draws: Draws) => string | undefined;

function rowsIn<Row>({ store }: SimulatedServices, sql: string): Row[] {
  return store.prepare<[], Row>(sql).all();
}

/** Assets in which lines of two orders stand: what is gone of one is left to people. */
const shared = `(SELECT asset_id FROM products WHERE removed_by IS NULL
  GROUP BY 1 HAVING COUNT(DISTINCT json_extract(record, '$.parentCrmProductId')) > 1)`;

/** What the program makes good once readings have shown it for long enough, and what it leaves alone. */
export const handWorks: Record<string, HandWork> = {
  "takes a product away": (services, draws) => {
    // What M7 shows with nothing in it says nothing, and is left to people.
    const found = draws.pick(
      rowsIn<{ assetNum: string; crmProductId: string }>(
        services,
        `SELECT asset_number AS assetNum, MIN(crm_product_id) AS crmProductId FROM products
         JOIN assets ON assets.id = asset_id WHERE products.removed_by IS NULL AND assets.removed_by IS NULL
         AND assets.id NOT IN ${shared} GROUP BY asset_number HAVING COUNT(*) > 1 ORDER BY asset_number`,
      ),
    );
    if (found === undefined) return undefined;
    services.hand({ action: "drop-product", ...found });
    return `${found.crmProductId} in ${found.assetNum}`;
  },
  "takes an asset away": (services, draws) => {
    const found = draws.pick(
      rowsIn<{ assetNum: string }>(
        services,
        `SELECT asset_number AS assetNum FROM assets WHERE removed_by IS NULL AND id NOT IN ${shared}
         ORDER BY asset_number`,
      ),
    );
    if (found === undefined) return undefined;
    services.hand({ action: "drop-asset", ...found });
    return found.assetNum;
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
    return found.assetNum;
  },
  "deletes an account": (services, draws) => {
    const found = draws.pick(
      rowsIn<{ id: number }>(services, "SELECT id FROM staff WHERE deleted = 0 AND role = 'added' ORDER BY id"),
    );
    if (found === undefined) return undefined;
    const memberGlobalId = identifierOf("member", found.id);
    services.hand({ action: "delete-person", memberGlobalId });
    return memberGlobalId;
  },
  "makes an account": (services, draws) => {
    const found = draws.pick(rowsIn<{ id: number }>(services, "SELECT id FROM enterprises ORDER BY id"));
    if (found === undefined) return undefined;
    const enterpriseGlobalId = identifierOf("enterprise", found.id);
    const made = services.hand({ action: "add-person", enterpriseGlobalId, userName: `hand${madeByHand(services)}` });
    return made["memberGlobalId"];
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
