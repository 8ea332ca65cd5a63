import { sha256 } from "../base/canonical-json.ts";
import { failure, identifierOf, numberOf, Refusal, rowOf, success, type Answer, type ErrorCode } from "./answers.ts";
import { enterpriseIn, type Call, type Platform, type Run } from "./endpoints.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";
import type { Store } from "./store.ts";

interface StaffRow {
  id: number;
  user_name: string;
  department_id: string | null;
  remark: string | null;
  mobile: string;
}

export function staffOperations(platform: Platform): { M1: Run; M2: Run; M3: Run; M4: Run } {
  return {
    M1: (call) => addStaffByCall(platform, call),
    M2: (call) => editStaff(platform, call),
    M3: (call) => resetPassword(platform, call),
    M4: (call) => deleteStaff(platform, call),
  };
}

interface NewStaff extends Pick<StaffEntry, "userName" | "name"> {
  enterprise: number;
  role: "administrator" | "member" | "added" | "by-hand";
  departmentId?: string | null | undefined;
  remark?: string | null | undefined;
  mobile?: string | null | undefined;
  password?: string;
}

export function addStaff(store: Store, { enterprise, role, password, ...staff }: NewStaff, now: number): number {
  return store.insert("staff", {
    enterprise_id: enterprise,
    role,
    user_name: staff.userName,
    name: staff.name,
    department_id: staff.departmentId ?? null,
    remark: staff.remark ?? null,
    mobile: staff.mobile ?? "",
    password_hash: password === undefined ? "" : sha256(password),
    created_at: now,
    updated_at: now,
  });
}

export function changeStaff(store: Store, row: number, staff: Omit<StaffEntry, "userName">, now: number): void {
  const { name, departmentId, remark, mobile } = staff;
  const sql = "UPDATE staff SET name = ?, department_id = ?, remark = ?, mobile = ?, updated_at = ? WHERE id = ?";
  store.run(sql, name, departmentId, remark, mobile ?? "", now, row);
}

export function removeStaff(store: Store, row: number, now: number): void {
  store.run("UPDATE staff SET deleted = 1, updated_at = ? WHERE id = ?", now, row);
  store.run("UPDATE assets SET holder_id = NULL, held_since = NULL WHERE holder_id = ?", row);
}

function memberOf({ store }: Platform, call: Call): { member: StaffRow; code: string } {
  const enterprise = enterpriseIn(store, call);
  const member =
    enterprise &&
    store.get<StaffRow>(
      `SELECT id, user_name, department_id, remark, mobile FROM staff WHERE id = ? AND enterprise_id = ? AND deleted = 0`,
      rowOf("member", call.parameters[1] ?? "") ?? -1,
      enterprise.id,
    );
  if (enterprise === undefined || member === undefined) throw new Refusal("60002", "no such staff member");
  return { member, code: enterprise.code };
}

function isTaken(store: Store, enterprise: number, userName: string): boolean {
  const sql = "SELECT 1 FROM staff WHERE enterprise_id = ? AND user_name = ? AND deleted = 0";
  return store.get(sql, enterprise, userName) !== undefined;
}

function checkedEntries({ store, settings }: Platform, call: Call, enterprise: { id: number; code: string }) {
  const body = objectBody(call.body);
  requireNamed(body, ["userList"]);
  const { userList } = body;
  if (userList === undefined || userList === null) throw new Refusal("40000", "userList is empty");
  if (!Array.isArray(userList)) throw new Refusal("40000", "userList is no list");
  if (userList.length === 0) throw new Refusal("40021", "userList is empty");
  if (userList.length > entriesPerCall) throw new Refusal("60013", `userList has ${userList.length} entries`);
  const entries = userList.map((entry) => addedEntry(entry, enterprise.code, settings));
  const cap = settings.trialMemberCap;
  const counted = store.get<{ count: number }>(
    "SELECT COUNT(*) AS count FROM staff WHERE enterprise_id = ? AND deleted = 0",
    enterprise.id,
  );
  const present = counted?.count ?? 0;
  if (cap !== undefined && present + entries.length > cap) {
    throw new Refusal("60009", `the enterprise has ${present} already`, [cap]);
  }
  return entries;
}

function addStaffByCall(platform: Platform, call: Call): Answer {
  const { store } = platform;
  const enterprise = enterpriseIn(store, call);
  if (enterprise === undefined) throw new Refusal("40006", "enterpriseGlobalId: no such enterprise");
  const entries = checkedEntries(platform, call, enterprise);
  const now = platform.now();
  const succeeded: object[] = [];
  const failed: object[] = [];
  entries.forEach((entry, index) => {
    const { userName, name, departmentId, remark } = entry;
    if (index >= entries.length - call.failingEntries) {
      failed.push({ userName, message: call.failingWords ?? "network error, retry" });
    } else if (isTaken(store, enterprise.id, userName)) {
      failed.push({ userName, message: "account exists already" });
    } else {
      const row = addStaff(store, { ...entry, enterprise: enterprise.id, role: "added" }, now);
      succeeded.push({
        id: numberOf(identifierOf("staffRecord", row)),
        userId: numberOf(identifierOf("user", row)),
        globalId: identifierOf("member", row),
        enterpriseId: numberOf(identifierOf("enterprise", enterprise.id)),
        departmentId: departmentId === null ? null : numberOf(departmentId),
        departmentName: null,
        userName: userName + enterprise.code,
        name,
        remark,
        deleted: false,
        updateTime: now,
        createTime: now,
      });
    }
  });
  if (failed.length === 0) return success({ succeeded, failed });
  return { ...failure("60027", `${failed.length} of ${entries.length} were not added`), data: { succeeded, failed } };
}

function editStaff(platform: Platform, call: Call): Answer {
  const { member, code } = memberOf(platform, call);
  const entry = editedEntry(call.body, code);
  if (entry.userName !== member.user_name && entry.userName !== member.user_name + code) {
    throw new Refusal("60002", "userName is not that of the staff member");
  }
  const kept = platform.settings.fieldsLeftOutInM2 === "kept" ? member : undefined;
  const staff = {
    name: entry.name,
    departmentId: entry.departmentId ?? kept?.department_id ?? null,
    remark: entry.remark ?? kept?.remark ?? null,
    mobile: entry.mobile ?? kept?.mobile ?? "",
  };
  changeStaff(platform.store, member.id, staff, platform.now());
  return success(null);
}

function resetPassword(platform: Platform, call: Call): Answer {
  const { member } = memberOf(platform, call);
  const password = requiredField(objectBody(call.body), "password", "40001");
  checkPassword(password);
  const sql = "UPDATE staff SET password_hash = ?, updated_at = ? WHERE id = ?";
  platform.store.run(sql, sha256(password), platform.now(), member.id);
  return success(null);
}

function deleteStaff(platform: Platform, call: Call): Answer {
  removeStaff(platform.store, memberOf(platform, call).member.id, platform.now());
  return success(null);
}

interface StaffEntry {
  userName: string;
  name: string;
  departmentId: string | null;
  remark: string | null;
  mobile: string | null;
}

const passwordLengths = [8, 32] as const;
const nameLimit = 30;
const remarkLimit = 200;
const accountLimit = 63;
const entriesPerCall = 100;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Members anywhere in the data get the value in the list that `change` gives. Undefined: they stay. */
export function withMembers(
  data: unknown,
  change: (name: string, value: unknown) => readonly [unknown] | undefined,
): unknown {
  if (Array.isArray(data)) return data.map((item) => withMembers(item, change));
  // `JSON.rawJSON` makes a number, not an object.
  if (!isObject(data) || "rawJSON" in data) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, ...(change(name, value) ?? [withMembers(value, change)])]),
  );
}

export function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && item !== "") ? value : undefined;
}

export function objectBody(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw new Refusal("40000", "body is empty or no object");
  return body;
}

export function requiredField(body: Record<string, unknown>, field: string, code: ErrorCode): string {
  const value = body[field];
  if (typeof value !== "string" || value === "") throw new Refusal(code, `${field} is empty`);
  return value;
}

function optionalText(body: Record<string, unknown>, field: string): string | null {
  const value = body[field];
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string") throw new Refusal("40000", `${field} is no text`);
  return value;
}

function departmentOf(body: Record<string, unknown>): string | null {
  const value = body["departmentId"];
  if (value === undefined || value === null) return null;
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  if (typeof value === "bigint" && BigInt.asIntN(64, value) === value) return String(value);
  throw new Refusal("40000", "departmentId is no Long");
}

const editedFields = ["userName", "departmentId", "name", "remark", "passwordMobile"];
const addedFields = [...editedFields, "password"];

function requireNamed(body: Record<string, unknown>, fields: readonly string[]): void {
  const other = Object.keys(body).find((field) => !fields.includes(field));
  if (other !== undefined) throw new Refusal("40000", `${other} is no field of this operation`);
}

function checkPassword(password: string): void {
  const [least, most] = passwordLengths;
  if (password.length < least || password.length > most) {
    throw new Refusal("50003", `password has ${password.length} characters`, passwordLengths);
  }
}

export function addedEntry(value: unknown, code: string, settings: SandboxSettings): StaffEntry & { password: string } {
  if (!isObject(value)) throw new Refusal("40000", "userList holds something that is no object");
  requireNamed(value, addedFields);
  const userName = requiredField(value, "userName", "40008");
  checkUserName(userName, code, "10003");
  const password = requiredField(value, "password", "40001");
  checkPassword(password);
  const departmentId = departmentOf(value);
  if (departmentId === null && settings.requireDepartment) throw new Refusal("40009", "departmentId is empty");
  const name = requiredField(value, "name", "40022");
  const remark = optionalText(value, "remark");
  checkLengths(name, remark);
  const mobile = optionalText(value, "passwordMobile");
  if (mobile !== null && !new RegExp(settings.mobilePattern).test(mobile)) {
    throw new Refusal("10004", "passwordMobile is no mobile number");
  }
  return { userName, password, name, departmentId, remark, mobile };
}

function editedEntry(value: unknown, code: string): StaffEntry {
  const body = objectBody(value);
  requireNamed(body, editedFields);
  const userName = requiredField(body, "userName", "40000");
  checkUserName(userName, code, "40000");
  const name = requiredField(body, "name", "40000");
  const remark = optionalText(body, "remark");
  checkLengths(name, remark);
  const mobile = optionalText(body, "passwordMobile");
  return { userName, name, departmentId: departmentOf(body), remark, mobile };
}

/** 30002 is the only listed code for a too long account name. */
function checkUserName(userName: string, code: string, malformed: ErrorCode): void {
  if (!/^[A-Za-z0-9]+$/.test(userName)) throw new Refusal(malformed, "userName holds more than letters and digits");
  if (userName.length + code.length >= accountLimit)
    throw new Refusal("30002", "userName with the enterprise code is too long");
}

function checkLengths(name: string, remark: string | null): void {
  if (lengthOf(name) > nameLimit) throw new Refusal("30002", `name is longer than ${nameLimit}`);
  if (remark !== null && lengthOf(remark) > remarkLimit)
    throw new Refusal("30003", `remark is longer than ${remarkLimit}`);
}

/** A surrogate pair is one character (A31). */
function lengthOf(text: string): number {
  return Array.from(text).length;
}
