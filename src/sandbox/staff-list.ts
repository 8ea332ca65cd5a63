import { identifierOf, numberOf, Refusal, rowOf, success } from "./answers.ts";
import type { Answer } from "./answers.ts";
import type { Call, Platform, Run } from "./endpoints.ts";

interface StaffRow {
  id: number;
  enterprise_id: number;
  user_name: string;
  name: string;
  department_id: string | null;
  remark: string | null;
  mobile: string;
  deleted: number;
  created_at: number;
  updated_at: number;
}

const navigationPages = 8;

/** What is common to these calls: the platform, and their statements, prepared once. */
function contextOf(platform: Platform) {
  const { store } = platform;
  const condition = `enterprise_id = @enterprise AND (deleted = 0 OR @deleted = 1)
    AND (@department IS NULL OR department_id = @department)
    AND (@keyword IS NULL OR instr(name, @keyword) > 0 OR instr(user_name || @code, @keyword) > 0)`;
  return {
    ...platform,
    isOnline: onlineIn(platform),
    findEnterprise: store.prepare<[number], { id: number; code: string }>(
      "SELECT id, code FROM enterprises WHERE id = ?",
    ),
    countRows: store.prepare<object, { count: number }>(`SELECT COUNT(*) AS count FROM staff WHERE ${condition}`),
    findRows: store.prepare<object, StaffRow>(
      `SELECT id, enterprise_id, user_name, name, department_id, remark, mobile, deleted, created_at, updated_at
       FROM staff WHERE ${condition} ORDER BY id LIMIT @size OFFSET @offset`,
    ),
    findHeld: store.prepare<[number], { asset_number: string }>(
      "SELECT asset_number FROM assets WHERE holder_id = ? AND removed_by IS NULL ORDER BY id",
    ),
    findBorrowed: store.prepare<[number, number], { asset_number: string }>(
      "SELECT asset_number FROM assets WHERE borrower_id = ? AND +enterprise_id = ? AND removed_by IS NULL LIMIT 1",
    ),
  };
}

type Context = ReturnType<typeof contextOf>;

/** M5: staff in pages. */
export function staffListOperations(platform: Platform): { M5: Run } {
  const context = contextOf(platform);
  return {
    M5: (call) => listStaff(context, call),
  };
}

function staffRecord(context: Context, row: StaffRow, code: string) {
  return {
    id: identifierOf("staffRecord", row.id),
    userId: identifierOf("user", row.id),
    globalId: identifierOf("member", row.id),
    enterpriseId: identifierOf("enterprise", row.enterprise_id),
    departmentId: row.department_id === null ? null : numberOf(row.department_id),
    departmentName: null,
    userName: row.user_name + code,
    passwordMobile: row.mobile,
    name: row.name,
    assetNums: context.findHeld.all(row.id).map((asset) => asset.asset_number),
    borrowNum: context.findBorrowed.get(row.id, row.enterprise_id)?.asset_number ?? "",
    onlineFlag: context.isOnline(row.id),
    remark: row.remark,
    deleted: row.deleted === 1,
    updateTime: row.updated_at,
    createTime: row.created_at,
    boundUserInfo: null,
  };
}

function listStaff(context: Context, call: Call): Answer {
  const enterprise = context.findEnterprise.get(rowOf("enterprise", call.parameters[0] ?? "") ?? -1);
  if (enterprise === undefined) throw new Refusal("80001", "enterpriseGlobalId: no such enterprise");
  const pageNum = positive(call.query, "pageNum");
  const pageSize = Math.min(positive(call.query, "pageSize"), context.settings.maxPageSize);
  const filter = {
    enterprise: enterprise.id,
    code: enterprise.code,
    deleted: context.settings.showDeletedStaff ? 1 : 0,
    department: call.query.get("departmentId") || null,
    keyword: call.query.get("keyword") || null,
  };
  const total = context.countRows.get(filter)?.count ?? 0;
  const offset = (pageNum - 1) * pageSize;
  const rows = context.findRows.all({ ...filter, size: pageSize, offset });
  return success({
    ...pageOf(pageNum, pageSize, rows.length, total),
    list: rows.map((row) => staffRecord(context, row, enterprise.code)),
  });
}

function positive(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Refusal("40000", `${name} is no page number or size`);
  return Number(text);
}

/** The fields of the Page object beside its list; 0 stands for a page that does not exist. */
function pageOf(pageNum: number, pageSize: number, size: number, total: number) {
  const pages = Math.ceil(total / pageSize);
  const first = Math.max(1, Math.min(pageNum - navigationPages / 2, pages - navigationPages + 1));
  const last = Math.min(pages, first + navigationPages - 1);
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  const offset = (pageNum - 1) * pageSize;
  return {
    pageNum,
    pageSize,
    size,
    orderBy: null,
    startRow: size === 0 ? 0 : offset + 1,
    endRow: size === 0 ? 0 : offset + size,
    total,
    pages,
    firstPage: pages === 0 ? 0 : 1,
    prePage: pageNum > 1 ? pageNum - 1 : 0,
    nextPage: pageNum < pages ? pageNum + 1 : 0,
    lastPage: pages,
    isFirstPage: pageNum === 1,
    isLastPage: pageNum >= pages,
    hasPreviousPage: pageNum > 1,
    hasNextPage: pageNum < pages,
    navigatePages: navigationPages,
    navigatepageNums: numbers,
  };
}

/** Whether a staff member, by row, is in online use: by the setting `onlineMembers`, or because a person said so. */
export function onlineIn({ store, settings }: Platform): (row: number | null) => boolean {
  const find = store.prepare<[number, number, string], { one: number }>(
    `SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM online WHERE staff_id = ?)
     OR EXISTS (SELECT 1 FROM staff WHERE id = ? AND user_name IN (SELECT value FROM json_each(?)))`,
  );
  const accounts = JSON.stringify(settings.onlineMembers);
  return (row) => row !== null && find.get(row, row, accounts) !== undefined;
}
