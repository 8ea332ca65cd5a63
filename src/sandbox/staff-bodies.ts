import { Refusal } from "./answers.ts";
import type { ErrorCode } from "./answers.ts";
import type { SandboxSettings } from "./sandbox-settings.ts";

/** A staff record as M1 and M2 take it, checked. */
export interface StaffEntry {
  userName: string;
  name: string;
  departmentId: string | null;
  remark: string | null;
  mobile: string | null;
}

const nameLimit = 30;
const remarkLimit = 200;
const accountLimit = 63;
export const entriesPerCall = 100;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Texts that are not empty, as an array; undefined for anything else. */
export function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && item !== "") ? value : undefined;
}

/** The body as an object; 40000 for anything else. */
export function objectBody(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw new Refusal("40000", "body is empty or no object");
  return body;
}

/** A required text of a body; `code` when it is missing, empty or no text. */
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

/** Refuses fields that the contract does not name for the body (40000). */
export function requireNamed(body: Record<string, unknown>, fields: readonly string[]): void {
  const other = Object.keys(body).find((field) => !fields.includes(field));
  if (other !== undefined) throw new Refusal("40000", `${other} is no field of this operation`);
}

/** The length bounds of a password (50003). */
export function checkPassword(password: string, settings: SandboxSettings): void {
  const { passwordMin, passwordMax } = settings;
  if (password.length < passwordMin || password.length > passwordMax) {
    throw new Refusal("50003", `password has ${password.length} characters`, [passwordMin, passwordMax]);
  }
}

/** An entry of M1's userList, in the order of its fields; the first thing wrong refuses the call. */
export function addedEntry(value: unknown, code: string, settings: SandboxSettings): StaffEntry & { password: string } {
  if (!isObject(value)) throw new Refusal("40000", "userList holds something that is no object");
  requireNamed(value, addedFields);
  const userName = requiredField(value, "userName", "40008");
  checkUserName(userName, code, "10003");
  const password = requiredField(value, "password", "40001");
  checkPassword(password, settings);
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

/** The body of M2; a field left out is null (A41). */
export function editedEntry(value: unknown, code: string): StaffEntry {
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

/** 30002 is the only listed code that can say that the account, a name, is too long. */
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

/** Characters, with a surrogate pair as one (A31). */
function lengthOf(text: string): number {
  return Array.from(text).length;
}
