import { identifierOf, Refusal, rowOf, success } from "./answers.ts";
import type { Answer } from "./answers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import { onlineIn } from "./staff-list.ts";
import { isObject, objectBody, requiredField, textsOf } from "./staff.ts";

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

/** What is common to these calls: the platform, and their statements, prepared once. */
function contextOf(platform: Platform) {
  const { store } = platform;
  return {
    ...platform,
    isOnline: onlineIn(platform),
    findEnterprise: store.prepare<[number], { id: number }>("SELECT id FROM enterprises WHERE id = ?"),
    findMember: store.prepare<[number], MemberRow>("SELECT id, enterprise_id FROM staff WHERE id = ? AND deleted = 0"),
    assetsOfEnterprise: store.prepare<[number], AssetRow>(
      `SELECT ${assetColumns} FROM assets WHERE enterprise_id = ? AND removed_by IS NULL ORDER BY id`,
    ),
    assetByNumber: store.prepare<[string], AssetRow>(
      `SELECT ${assetColumns} FROM assets WHERE asset_number = ? AND removed_by IS NULL`,
    ),
    assetById: store.prepare<[number], AssetRow>(
      `SELECT ${assetColumns} FROM assets WHERE id = ? AND removed_by IS NULL`,
    ),
    setHolder: store.prepare<[number | null, number | null, number]>(
      "UPDATE assets SET holder_id = ?, held_since = ? WHERE id = ?",
    ),
    nodesOfAsset: store.prepare<[number], { nodes: number | null }>(
      `SELECT SUM(json_extract(record, '$.limitConcurrent')) AS nodes
       FROM products WHERE asset_id = ? AND removed_by IS NULL`,
    ),
    lend: store.prepare<[number, number]>("UPDATE assets SET lent_to_lock_id = ? WHERE id = ?"),
    setBorrower: store.prepare<[number, number]>("UPDATE assets SET borrower_id = ? WHERE id = ?"),
  };
}

type Context = ReturnType<typeof contextOf>;

/** M6, M8–M10: who holds which asset, and what is lent. */
export function privilegeOperations(platform: Platform): { M6: Run; M8: Run; M9: Run; M10: Run } {
  const context = contextOf(platform);
  return {
    M6: (call) => listAssets(context, call),
    M8: (call) => listLocks(context, call),
    M9: (call) => assignAssets(context, call),
    M10: (call) => borrowAssets(context, call),
  };
}

function assetsSeenBy(context: Context, call: Call): AssetRow[] {
  const enterprise = context.findEnterprise.get(rowOf("enterprise", call.parameters[0] ?? "") ?? -1);
  if (enterprise === undefined) throw new Refusal("60017", "enterpriseGlobalId: no such enterprise");
  return context.assetsOfEnterprise.all(enterprise.id);
}

function memberOf(context: Context, call: Call): MemberRow {
  const found = context.findMember.get(rowOf("member", call.parameters[0] ?? "") ?? -1);
  if (found === undefined) throw new Refusal("60026", "memberGlobalId names no staff member");
  return found;
}

function assetOf(context: Context, number: string, member: MemberRow): AssetRow {
  const found = context.assetByNumber.get(number);
  if (found === undefined) throw new Refusal("60024", `${number} does not exist`);
  if (found.enterprise_id !== member.enterprise_id) throw new Refusal("60025", `${number} is of another enterprise`);
  return found;
}

function lockFor(context: Context, number: string, member: MemberRow): AssetRow {
  const lock = context.assetByNumber.get(number);
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

function listAssets(context: Context, call: Call): Answer {
  return success(
    assetsSeenBy(context, call).map((asset) => ({
      assetNum: asset.asset_number,
      assetId: identifierOf("asset", asset.id),
      cloudAccountGlobalId: asset.holder_id === null ? null : identifierOf("member", asset.holder_id),
      borrowedFlag: asset.lent_to_lock_id !== null || asset.borrower_id !== null,
      onlineFlag: context.isOnline(asset.holder_id),
    })),
  );
}

function listLocks(context: Context, call: Call): Answer {
  return success(
    assetsSeenBy(context, call)
      .filter((asset) => asset.borrowed_usb_key === 1)
      .map((asset) => ({
        assetId: identifierOf("asset", asset.id),
        assetNum: asset.asset_number,
        borrowedFlag: asset.borrower_id !== null,
        cloudAccountGlobalId: asset.borrower_id === null ? null : identifierOf("member", asset.borrower_id),
      })),
  );
}

function assignAssets(context: Context, call: Call): Answer {
  const member = memberOf(context, call);
  const body = isObject(call.body) ? call.body : {};
  const revoked = textsOf(body["deleteAssets"]);
  const added = textsOf(body["addAssets"]);
  // M9 lists no code for a malformed body; 60024 is the one that speaks of the numbers.
  if (revoked === undefined || added === undefined) {
    throw new Refusal("60024", "deleteAssets and addAssets must both be lists of asset numbers");
  }
  const named = [...revoked, ...added];
  const twice = named.find((number, index) => named.indexOf(number) !== index);
  if (twice !== undefined) throw new Refusal("60028", `${twice} is named twice`);
  for (const number of revoked) {
    const asset = assetOf(context, number, member);
    if (asset.holder_id !== member.id) throw new Refusal("60024", `${number} is not held by this staff member`);
    context.setHolder.run(null, null, asset.id);
  }
  for (const number of added) {
    const asset = assetOf(context, number, member);
    if (asset.holder_id !== null) throw new Refusal("60028", `${number} is held already`);
    context.setHolder.run(member.id, context.now(), asset.id);
  }
  return success(null);
}

function borrowAssets(context: Context, call: Call): Answer {
  const member = memberOf(context, call);
  const body = objectBody(call.body);
  const number = requiredField(body, "borrowedUsbKey", "40000");
  const identifiers = textsOf(body["assetIDs"]);
  if (identifiers === undefined || identifiers.length === 0) throw new Refusal("40000", "assetIDs is empty");
  const lock = lockFor(context, number, member);
  for (const identifier of identifiers) {
    const asset = context.assetById.get(rowOf("asset", identifier) ?? -1);
    if (asset === undefined || asset.holder_id !== member.id) {
      throw new Refusal("33003", `${identifier} is not held by this staff member`);
    }
    if (asset.lent_to_lock_id !== null) throw new Refusal("33007", `${identifier} is lent already`);
    if ((context.nodesOfAsset.get(asset.id)?.nodes ?? 0) < 1)
      throw new Refusal("33006", `${identifier} has no node to lend`);
    context.lend.run(lock.id, asset.id);
  }
  context.setBorrower.run(member.id, lock.id);
  return success(null);
}
