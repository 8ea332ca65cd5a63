import { identifierOf, Refusal, rowOf, success, type Answer } from "./answers.ts";
import { enterpriseIn, type Call, type Platform, type Run } from "./endpoints.ts";
import { isOnline } from "./staff-list.ts";
import { isObject, objectBody, requiredField, textsOf } from "./staff.ts";
import type { Store } from "./store.ts";

interface AssetRow {
  id: number;
  enterprise_id: number;
  asset_number: string;
  borrowed_usb_key: number;
  locked: number;
  holder_id: number | null;
  lent_to_lock_id: number | null;
  borrower_id: number | null;
}

interface MemberRow {
  id: number;
  enterprise_id: number;
}

const assetColumns =
  "id, enterprise_id, asset_number, borrowed_usb_key, locked, holder_id, lent_to_lock_id, borrower_id";

export function privilegeOperations(platform: Platform): { M6: Run; M8: Run; M9: Run; M10: Run } {
  return {
    M6: (call) => listAssets(platform, call),
    M8: (call) => listLocks(platform, call),
    M9: (call) => assignAssets(platform, call),
    M10: (call) => borrowAssets(platform, call),
  };
}

function assetsSeenBy({ store }: Platform, call: Call): AssetRow[] {
  const enterprise = enterpriseIn(store, call);
  if (enterprise === undefined) throw new Refusal("60017", "enterpriseGlobalId: no such enterprise");
  return store.all<AssetRow>(
    `SELECT ${assetColumns} FROM assets WHERE enterprise_id = ? AND removed_by IS NULL ORDER BY id`,
    enterprise.id,
  );
}

function memberOf({ store }: Platform, call: Call): MemberRow {
  const found = store.get<MemberRow>(
    "SELECT id, enterprise_id FROM staff WHERE id = ? AND deleted = 0",
    rowOf("member", call.parameters[0] ?? "") ?? -1,
  );
  if (found === undefined) throw new Refusal("60026", "memberGlobalId names no staff member");
  return found;
}

function assetByNumber(store: Store, number: string): AssetRow | undefined {
  const sql = `SELECT ${assetColumns} FROM assets WHERE asset_number = ? AND removed_by IS NULL`;
  return store.get<AssetRow>(sql, number);
}

function assetOf({ store }: Platform, number: string, member: MemberRow): AssetRow {
  const found = assetByNumber(store, number);
  if (found === undefined) throw new Refusal("60024", `${number} does not exist`);
  if (found.enterprise_id !== member.enterprise_id) throw new Refusal("60025", `${number} is of another enterprise`);
  return found;
}

function lockFor({ store }: Platform, number: string, member: MemberRow): AssetRow {
  const lock = assetByNumber(store, number);
  if (
    lock === undefined ||
    lock.enterprise_id !== member.enterprise_id ||
    lock.borrowed_usb_key === 0 ||
    lock.locked === 1
  ) {
    throw new Refusal("33008", `${number} is no borrowed lock that can be used`);
  }
  if (lock.borrower_id !== null && lock.borrower_id !== member.id) {
    throw new Refusal("33018", `${number} is with another staff member`);
  }
  return lock;
}

function listAssets(platform: Platform, call: Call): Answer {
  return success(
    assetsSeenBy(platform, call).map((asset) => ({
      assetNum: asset.asset_number,
      assetId: identifierOf("asset", asset.id),
      cloudAccountGlobalId: asset.holder_id === null ? null : identifierOf("member", asset.holder_id),
      borrowedFlag: asset.lent_to_lock_id !== null || asset.borrower_id !== null,
      onlineFlag: isOnline(platform, asset.holder_id),
    })),
  );
}

function listLocks(platform: Platform, call: Call): Answer {
  return success(
    assetsSeenBy(platform, call)
      .filter((asset) => asset.borrowed_usb_key === 1)
      .map((asset) => ({
        assetId: identifierOf("asset", asset.id),
        assetNum: asset.asset_number,
        borrowedFlag: asset.borrower_id !== null,
        cloudAccountGlobalId: asset.borrower_id === null ? null : identifierOf("member", asset.borrower_id),
      })),
  );
}

export function setHolder({ store, now }: Pick<Platform, "store" | "now">, asset: number, holder: number | null): void {
  const since = holder === null ? null : now();
  store.run("UPDATE assets SET holder_id = ?, held_since = ? WHERE id = ?", holder, since, asset);
}

function assignAssets(platform: Platform, call: Call): Answer {
  const member = memberOf(platform, call);
  const body = isObject(call.body) ? call.body : {};
  const revoked = textsOf(body["deleteAssets"]);
  const added = textsOf(body["addAssets"]);
  // M9 lists no code for a malformed body; 60024 is about the numbers.
  if (revoked === undefined || added === undefined) {
    throw new Refusal("60024", "deleteAssets and addAssets must both be lists of asset numbers");
  }
  const named = [...revoked, ...added];
  const twice = named.find((number, index) => named.indexOf(number) !== index);
  if (twice !== undefined) throw new Refusal("60028", `${twice} is named twice`);
  for (const number of revoked) {
    const asset = assetOf(platform, number, member);
    if (asset.holder_id !== member.id) throw new Refusal("60024", `${number} is not held by this staff member`);
    setHolder(platform, asset.id, null);
  }
  for (const number of added) {
    const asset = assetOf(platform, number, member);
    if (asset.holder_id !== null) throw new Refusal("60028", `${number} is held already`);
    setHolder(platform, asset.id, member.id);
  }
  return success(null);
}

function borrowAssets(platform: Platform, call: Call): Answer {
  const { store } = platform;
  const member = memberOf(platform, call);
  const body = objectBody(call.body);
  const number = requiredField(body, "borrowedUsbKey", "40000");
  const identifiers = textsOf(body["assetIDs"]);
  if (identifiers === undefined || identifiers.length === 0) throw new Refusal("40000", "assetIDs is empty");
  const lock = lockFor(platform, number, member);
  for (const identifier of identifiers) {
    const asset = store.get<AssetRow>(
      `SELECT ${assetColumns} FROM assets WHERE id = ? AND removed_by IS NULL`,
      rowOf("asset", identifier) ?? -1,
    );
    if (asset === undefined || asset.holder_id !== member.id) {
      throw new Refusal("33003", `${identifier} is not held by this staff member`);
    }
    if (asset.lent_to_lock_id !== null) throw new Refusal("33007", `${identifier} is lent already`);
    const found = store.get<{ nodes: number | null }>(
      `SELECT SUM(json_extract(record, '$.limitConcurrent')) AS nodes
       FROM products WHERE asset_id = ? AND removed_by IS NULL`,
      asset.id,
    );
    if ((found?.nodes ?? 0) < 1) throw new Refusal("33006", `${identifier} has no node to lend`);
    store.run("UPDATE assets SET lent_to_lock_id = ? WHERE id = ?", lock.id, asset.id);
  }
  store.run("UPDATE assets SET borrower_id = ? WHERE id = ?", member.id, lock.id);
  return success(null);
}
