import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { writeCustomers } from "./customers.ts";
import { benchPath } from "./measure.ts";
import { type Measuring, eachProgram, ofPrograms } from "./measuring.ts";
import { type Passage, exportPath, programPass } from "./passage.ts";
import { profileFolder } from "./profile/folder.ts";
import { roomsOf } from "./profile/rooms.ts";
import type { Program } from "./program.ts";

const statementSchema = z.object({ sql: z.string(), count: z.number(), milliseconds: z.number() });
const walSchema = z.object({ frames: z.int(), commits: z.int(), pageSize: z.int() });

/** Where a first run spends its time; everything for one customer. */
export const profileSchema = z.object({
  records: z.int(),
  statements: z.number(),
  statementMs: z.number(),
  commits: z.number(),
  walFrames: z.number(),
  walBytes: z.number(),
  /** The statements that take longest. */
  longest: z.array(statementSchema),
  /** Milliseconds of the sampled thread or threads, without waiting. */
  rooms: z.array(z.object({ room: z.string(), milliseconds: z.number() })),
});
export type Profile = z.infer<typeof profileSchema>;
export const profilesSchema = ofPrograms(profileSchema);

const mostStatements = 40;

/** Profiles a first run of each program three times: its statements, its write-ahead log, its processor time. */
export async function measureProfile(measuring: Measuring, records: number) {
  const csv = exportPath(measuring.work, records);
  writeCustomers(csv, records);
  return await eachProgram(measuring.programs, async (program, name) => {
    const profiled = async (what: string, nodeOptions: (folder: string) => string[]): Promise<string> => {
      measuring.tell(`profile, ${name}: ${what}`);
      const directory = join(measuring.work, "profile", name, what);
      await profiledRun(program, { csv, records, directory }, nodeOptions(directory));
      return directory;
    };
    const preload = (file: string): string[] => ["--import", pathToFileURL(benchPath(`profile/${file}`)).href];
    const statements = await profiled("statements", () => preload("statements.ts"));
    const wal = await profiled("write-ahead log", () => preload("wal.ts"));
    const cpu = await profiled("processor time", (folder) => ["--cpu-prof", `--cpu-prof-dir=${folder}/cpu`]);
    return profileOf(records, { statements, wal, cpu: join(cpu, "cpu") });
  });
}

async function profiledRun(
  program: Program,
  way: { csv: string; records: number; directory: string },
  nodeOptions: string[],
): Promise<Passage> {
  mkdirSync(way.directory, { recursive: true });
  return await programPass(program, "customers", way, {
    nodeOptions,
    environment: { [profileFolder]: way.directory },
  });
}

function profileOf(records: number, folders: { statements: string; wal: string; cpu: string }): Profile {
  const statements = jsonOf(folders.statements, "statements-", z.array(statementSchema)).flat();
  const wals = jsonOf(folders.wal, "wal-", walSchema);
  const frames = wals.reduce((sum, one) => sum + one.frames, 0);
  const pageSize = Math.max(...wals.map((one) => one.pageSize));
  const each = (sum: number): number => Number((sum / records).toFixed(4));
  const total = (of: (one: z.infer<typeof statementSchema>) => number, some = statements): number =>
    each(some.reduce((sum, one) => sum + of(one), 0));
  const rooms = new Map<string, number>();
  for (const file of readdirSync(folders.cpu))
    for (const [room, spent] of roomsOf(join(folders.cpu, file))) rooms.set(room, (rooms.get(room) ?? 0) + spent);
  rooms.delete("(idle)");
  return {
    records,
    statements: total((one) => one.count),
    statementMs: total((one) => one.milliseconds),
    commits: total(
      (one) => one.count,
      statements.filter(({ sql }) => /^commit\b/iu.test(sql)),
    ),
    walFrames: each(frames),
    walBytes: each(frames * pageSize),
    longest: statements
      .toSorted((one, other) => other.milliseconds - one.milliseconds)
      .slice(0, mostStatements)
      .map(({ sql, count, milliseconds }) => ({ sql, count: each(count), milliseconds: each(milliseconds) })),
    rooms: [...rooms]
      .toSorted(([, one], [, other]) => other - one)
      .map(([room, spent]) => ({ room, milliseconds: each(spent) }))
      .filter(({ milliseconds }) => milliseconds > 0),
  };
}

function jsonOf<Content>(folder: string, start: string, schema: z.ZodType<Content>): Content[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith(start) && name.endsWith(".json"))
    .map((name) => schema.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))));
}
