import { z } from "zod";
import { Refusal, success } from "./answers.ts";
import { cloudTypes, lockableTypes } from "./assumptions.ts";
import type { Answer } from "./answers.ts";
import { identifierOf, rowOf } from "./identifiers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";
import { checked, integer, requiredText } from "./parameters.ts";
import type { Given } from "./store.ts";
import { epochMs } from "./times.ts";

const locksSchema = z.strictObject({ assetNums: z.array(requiredText).min(1), operatorIdentity: requiredText });
const extensionsSchema = z.array(z.object({ extendCode: z.string().nullish(), extendValue: z.string().nullish() }));

interface AssetRow {
  id: number;
  license_type: string;
  asset_number: string;
  customer_id: number;
  extensions: string;
  limit_start: Given;
  limit_end: Given;
  locked: number;
  borrowed_usb_key: number;
  holder_id: number | null;
  held_since: number | null;
  created_at: number;
  updated_at: number;
}

interface LockRow {
  id: number;
  license_type: string;
  lent: number;
}

/** The per-lock results of E6 and E7. */
const lockStatus = { succeeded: 1, missing: 2, failed: 3, wrongType: 4 } as const;

/** What is common to these calls: the platform, and their statements, prepared once. */
function contextOf(platform: Platform) {
  const { store } = platform;
  const cloudTypesJson = JSON.stringify(cloudTypes);
  return {
    ...platform,
    findLock: store.prepare<[string], LockRow>(
      `SELECT id, license_type, (lent_to_lock_id IS NOT NULL OR borrower_id IS NOT NULL) AS lent
       FROM assets WHERE asset_number = ? AND removed_by IS NULL`,
    ),
    setLocked: store.prepare<[number, number, number]>("UPDATE assets SET locked = ?, updated_at = ? WHERE id = ?"),
    findEnterprise: store.prepare<[number], { id: number }>("SELECT id FROM enterprises WHERE id = ?"),
    cloudAssets: store.prepare<[number, string], AssetRow>(
      `SELECT id, license_type, asset_number, customer_id, extensions, limit_start, limit_end, locked,
       borrowed_usb_key, holder_id, held_since, created_at, updated_at
       FROM assets WHERE enterprise_id = ? AND removed_by IS NULL AND license_type IN (SELECT value FROM json_each(?))
       ORDER BY id`,
    ),
    cloudTypesJson,
    takeNumbers: store.prepare<[number, number], { value: number }>(
      `INSERT INTO meta (key, value) VALUES ('shell-numbers', ?)
       ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + ? RETURNING CAST(value AS INTEGER) AS value`,
    ),
  };
}

type Context = ReturnType<typeof contextOf>;

/** E6–E9: physical locks, virtual assets, asset-number digits. */
export function assetOperations(platform: Platform): { E6: Run; E7: Run; E8: Run; E9: Run } {
  const context = contextOf(platform);
  return {
    E6: (call) => switchLocks(context, call, 1),
    E7: (call) => switchLocks(context, call, 0),
    E8: (call) => virtualAssets(context, call),
    E9: (call) => takeShellNumbers(context, call),
  };
}

function switchLocks(context: Context, call: Call, locked: 0 | 1): Answer {
  const body = checked(locksSchema, call.body);
  return success(
    body.assetNums.map((assetNum) => {
      const found = context.findLock.get(assetNum);
      if (found === undefined) return { assetNum, status: lockStatus.missing };
      if (!lockableTypes.includes(found.license_type)) return { assetNum, status: lockStatus.wrongType };
      if (found.lent === 1) return { assetNum, status: lockStatus.failed };
      context.setLocked.run(locked, context.now(), found.id);
      return { assetNum, status: lockStatus.succeeded };
    }),
  );
}

function virtualAsset(row: AssetRow) {
  const held = row.holder_id !== null;
  return {
    id: identifierOf("asset", row.id),
    licenseType: row.license_type,
    assetNum: row.asset_number,
    grantable: true,
    customerId: identifierOf("customer", row.customer_id),
    keyShellNumber: row.asset_number.replace(/\D/g, ""),
    keyChipType: 2,
    locked: row.locked === 1,
    freezing: false,
    createTime: row.created_at,
    updateTime: row.updated_at,
    limitStartTime: epochMs(row.limit_start),
    limitEndTime: epochMs(row.limit_end),
    assignStatus: {
      id: identifierOf("asset", row.id),
      assignStatus: held ? "assigned" : "unassigned",
      assignMemberId: row.holder_id === null ? "" : identifierOf("member", row.holder_id),
      createTime: row.held_since === null ? "" : String(row.held_since),
      updateTime: null,
    },
    assetLimits: null,
    assetExtends: extensionsSchema.parse(JSON.parse(row.extensions)),
    borrowedUsbKey: row.borrowed_usb_key === 1,
  };
}

function virtualAssets(context: Context, call: Call): Answer {
  const enterprise = rowOf("enterprise", call.parameters[0] ?? "") ?? -1;
  if (context.findEnterprise.get(enterprise) === undefined)
    throw new Refusal("13004", "enterpriseGlobalId: no such enterprise");
  const assets = context.cloudAssets.all(enterprise, context.cloudTypesJson).map(virtualAsset);
  const code = call.query.get("extendCode");
  if (code === null || code === "") return success(assets);
  return success(assets.filter((asset) => asset.assetExtends.some((extension) => extension.extendCode === code)));
}

function takeShellNumbers(context: Context, call: Call): Answer {
  const { size } = checked(z.strictObject({ size: integer.min(1).max(context.settings.maxShellNumbers) }), call.body);
  const last = context.takeNumbers.get(size, size)?.value ?? 0;
  return success(
    Array.from(
      { length: size },
      (_, index) => context.settings.shellRegion + String(last - size + index + 1).padStart(9, "0"),
    ),
  );
}
