import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Why nobody but root could run this program: root itself may read everything, so that nothing is closed to it. */
export function whyNotAsNobody(): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (let path = import.meta.dirname; ; path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return `only root may enter ${path}, and root may read every file`;
    if (path === dirname(path)) return undefined;
  }
}

/** A group of this system to which files may be given: not root's, or where this user is not root, its own. */
export function anyGroup(): { name: string; id: number } {
  const groups = readFileSync("/etc/group", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , id = ""]) => ({ name, id: Number(id) }));
  const own = process.getgid?.() ?? 0;
  const found = groups.find(({ name, id }) => name !== "" && (own === 0 ? id > 0 : id === own));
  if (found === undefined) throw new Error("this system has no group that could be used");
  return found;
}

export interface Line {
  words: string[];
  environment?: Record<string, string>;
}

/** Runs command lines in one process as another user, and gives what each said and how it ended. Needs root. */
export async function runAs(
  user: { uid: number; gid: number; groups: number[] },
  lines: readonly Line[],
): Promise<{ code: number; said: string }[]> {
  const script = join(import.meta.dirname, "processes/as-user.ts");
  const wanted = { ...user, lines: lines.map(({ words, environment = {} }) => ({ words, environment })) };
  const child = spawn(process.execPath, [script, JSON.stringify(wanted)], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
  });
  let said = "";
  let wrong = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (wrong += text));
  await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  const ends = said.split(/\nend (\d+)\n/u);
  if (ends.length !== lines.length * 2 + 1) throw new Error(`it ended too early:\n${said}\n${wrong}`);
  return lines.map((_, index) => ({ said: ends[index * 2] ?? "", code: Number(ends[index * 2 + 1]) }));
}
