import { identifierOf, numberOf, Refusal, success, type Answer } from "./answers.ts";
import { enterpriseIn, type Call, type Platform, type Run } from "./endpoints.ts";

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

const listed = `enterprise_id = @enterprise AND (deleted = 0 OR @deleted = 1)
  AND (@department IS NULL OR department_id = @department)
  AND (@keyword IS NULL OR instr(name, @keyword) > 0 OR instr(user_name || @code, @keyword) > 0)`;

export function staffListOperations(platform: Platform): { M5: Run } {
  return { M5: (call) => listStaff(platform, call) };
}

function staffRecord(platform: Platform, row: StaffRow, code: string) {
  const { store } = platform;
  const held = store.all<{ asset_number: string }>(
    "SELECT asset_number FROM assets WHERE holder_id = ? AND removed_by IS NULL ORDER BY id",
    row.id,
  );
  const borrowed = store.get<{ asset_number: string }>(
    "SELECT asset_number FROM assets WHERE borrower_id = ? AND +enterprise_id = ? AND removed_by IS NULL LIMIT 1",
    row.id,
    row.enterprise_id,
  );
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
    assetNums: held.map((asset) => asset.asset_number),
    borrowNum: borrowed?.asset_number ?? "",
    onlineFlag: isOnline(platform, row.id),
    remark: row.remark,
    deleted: row.deleted === 1,
    updateTime: row.updated_at,
    createTime: row.created_at,
    boundUserInfo: null,
  };
}

function listStaff(platform: Platform, call: Call): Answer {
  const { store, settings } = platform;
  const enterprise = enterpriseIn(store, call);
  if (enterprise === undefined) throw new Refusal("80001", "enterpriseGlobalId: no such enterprise");
  const pageNum = positive(call.query, "pageNum");
  const pageSize = Math.min(positive(call.query, "pageSize"), settings.maxPageSize);
  const filter = {
    enterprise: enterprise.id,
    code: enterprise.code,
    deleted: settings.showDeletedStaff ? 1 : 0,
    department: call.query.get("departmentId") || null,
    keyword: call.query.get("keyword") || null,
  };
  const total = store.get<{ count: number }>(`SELECT COUNT(*) AS count FROM staff WHERE ${listed}`, filter)?.count ?? 0;
  const offset = (pageNum - 1) * pageSize;
  const rows = store.all<StaffRow>(
    `SELECT id, enterprise_id, user_name, name, department_id, remark, mobile, deleted, created_at, updated_at
     FROM staff WHERE ${listed} ORDER BY id LIMIT @size OFFSET @offset`,
    { ...filter, size: pageSize, offset },
  );
  return success({
    ...pageOf(pageNum, pageSize, rows.length, total),
    list: rows.map((row) => staffRecord(platform, row, enterprise.code)),
  });
}

function positive(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Refusal("40000", `${name} is no page number or size`);
  return Number(text);
}

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

export function isOnline({ store }: Platform, row: number | null): boolean {
  return row !== null && store.get("SELECT 1 FROM online WHERE staff_id = ?", row) !== undefined;
}
