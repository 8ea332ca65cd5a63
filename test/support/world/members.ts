import { callerOf } from "../../sandbox/caller.ts";
import { enterpriseOf as linkedWith } from "../asking.ts";
import type { World } from "../cli.ts";

/** A member of staff as M5 shows them now. */
export interface ShownMember {
  globalId: string;
  userName: string;
  name: string;
  remark: string | null;
  passwordMobile: string;
  departmentId: string | null;
  assetNums: string[];
  deleted: boolean;
}

/** What M5 shows of a customer's people, by their account names without the enterprise code. */
export async function membersOf(w: World, customer: string): Promise<Map<string, ShownMember>> {
  const { member } = callerOf(w.sandbox.url);
  const enterprise = await linkedWith(w, customer);
  const reply = await member("GET", `/enterprise/${enterprise}/members?pageNum=1&pageSize=50`);
  const rows: ShownMember[] = reply.data.list;
  const shown = rows.filter((row) => !row.deleted);
  return new Map(shown.map((row) => [row.userName.replace(/E\d{5}$/u, ""), row]));
}

/** One person of the world's CRM, to be edited. */
export function personOf(w: World, id: string): World["staff"][number] {
  const person = w.staff.find((row) => row.id === id);
  if (person === undefined) throw new Error(`the world has no person ${id}`);
  return person;
}

/** The exit code of a command line and the writing calls that it made, to be compared whole. */
export function outcome({ exitCode, calls }: Awaited<ReturnType<World["does"]>>): [typeof exitCode, typeof calls] {
  return [exitCode, calls];
}
