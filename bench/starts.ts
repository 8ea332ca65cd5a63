import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeCustomers } from "./customers.ts";
import { benchPath, median, timeOf } from "./measure.ts";

/** Milliseconds of wall time from the start of a process to its end; in turns with the others. */
interface Start {
  fewest: number;
  middle: number;
}

/** What it costs to start a command: ratios to a Node that does nothing. */
export interface Starts {
  rounds: number;
  bareNode: Start;
  help: Start;
  /** The bundle without its launcher. */
  bundleHelp: Start;
  sourceHelp: Start;
  status: Start;
}

/** A configuration as a small company has it: one source, the profile of the sandbox for everything else. */
const configuration = `ledger: { path: ledger.db }
sources:
  crm:
    kind: file
    directory: .
    streams:
      customers:
        files: customers.csv
        key: number
        mapping:
          id: number
          name: company
          customerType: kind
          branchCode: branch
          branchName: { template: "Branch {branch}" }
          address: { concat: [street, city], separator: ", " }
          adminName: contact
          adminAccount: mail
          adminEmail: mail
          adminMobile: phone
          purchaserMobile: phone
jobs:
  customers: { kind: sync, streams: [customers] }
`;

const customers = 20;

/** Starts each of them once in each round, after one round that is not counted. */
export async function measureStarts(work: string, rounds: number): Promise<Starts> {
  const directory = join(work, "starts");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "crm-sync.yaml"), configuration);
  writeCustomers(join(directory, "customers.csv"), customers);
  const launcher = benchPath("../bin/crm-sync");
  const node = process.execPath;
  const global = ["--config", join(directory, "crm-sync.yaml"), "--sandbox"];
  execFileSync(launcher, [...global, "run", "customers"], { stdio: "ignore" });
  const { currentBundle } = await import("../build/bundle.ts");
  const commands: Record<keyof Omit<Starts, "rounds">, [string, string[]]> = {
    bareNode: [node, ["-e", "0"]],
    help: [launcher, ["--help"]],
    bundleHelp: [node, [currentBundle(benchPath("..")), "--help"]],
    sourceHelp: [node, [benchPath("../src/main.ts"), "--help"]],
    status: [launcher, [...global, "status"]],
  };
  const times = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, [command, words]] of Object.entries(commands)) {
      const seconds = await timeOf(command, words);
      if (seconds === undefined) throw new Error(`${command} ${words.join(" ")} did not end well`);
      if (round > 0) times.get(name)?.push(seconds * 1_000);
    }
  }
  const of = (name: keyof typeof commands): Start => {
    const all = times.get(name) ?? [];
    return { fewest: Math.min(...all), middle: median(all) };
  };
  return {
    rounds,
    bareNode: of("bareNode"),
    help: of("help"),
    bundleHelp: of("bundleHelp"),
    sourceHelp: of("sourceHelp"),
    status: of("status"),
  };
}

/** `node bench/starts.ts`: these alone, which takes some seconds. */
if (import.meta.main) {
  const work = mkdtempSync(join(tmpdir(), "crm-sync-starts-"));
  try {
    const { rounds, ...starts } = await measureStarts(work, 20);
    console.log(`${rounds} rounds in turns; milliseconds, and how often a bare Node: fewest, middle`);
    for (const [name, { fewest, middle }] of Object.entries(starts)) {
      const ratios = [fewest / starts.bareNode.fewest, middle / starts.bareNode.middle].map((one) => one.toFixed(2));
      console.log(`${name.padEnd(12)} ${fewest.toFixed(0)}, ${middle.toFixed(0)} ms; ${ratios.join(" ×, ")} ×`);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
