import { renderTable } from "../src/report/text.ts";
import { type Figure, count, rate, spreadText, times } from "./figure.ts";
import { boundOf } from "./latency.ts";
import { median } from "./measure.ts";
import type { OfPrograms } from "./measuring.ts";
import { type Passage, callsPerSecond, lanes, recordsPerSecond } from "./passage.ts";
import type { Profile } from "./profile.ts";
import type { Result } from "./result.ts";
import type { Round } from "./road.ts";

/** Rows in a box. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return renderTable(
    head.map((title) => ({ title })),
    rows,
    { terminal: true, zone: "UTC" },
  );
}

const verdicts = { met: "met", below: "BELOW", "not measured": "not measured" };

/** The targets with their figures; where two programs were measured, that of the earlier one beside them. */
export function targetTable(figures: readonly Figure[], before: readonly Figure[]): string {
  const earlier = (item: Figure): Figure | undefined =>
    before.find(({ target, what, wanted }) => target === item.target && what === item.what && wanted === item.wanted);
  const both = before.length > 0;
  return table(
    ["", "what", ...(both ? ["before", "ratio before"] : []), "figure", "target", "ratio", "verdict"],
    figures.map((item) => {
      const was = earlier(item);
      return [
        item.target,
        item.what,
        ...(both ? [was?.figure ?? "", spreadText(was?.spread)] : []),
        item.figure,
        item.wanted,
        spreadText(item.spread),
        verdicts[item.verdict],
      ];
    }),
  );
}

/** What each way through the customers cost: the middle of the rounds. */
export function wayTable(rounds: readonly Round[]): string {
  const row = (name: string, way: (round: Round) => Passage | undefined): string[][] => {
    const all = rounds.flatMap((round) => {
      const passage = way(round);
      return passage === undefined ? [] : [{ passage, floor: round.floor }];
    });
    if (all.length === 0) return [];
    const middle = (of: (one: { passage: Passage; floor: Passage }) => number): number => median(all.map(of));
    return [
      [
        name,
        rate(
          middle(({ passage }) => recordsPerSecond(passage)),
          "records",
        ),
        times(middle(({ passage, floor }) => recordsPerSecond(passage) / recordsPerSecond(floor))),
        middle(({ passage }) => passage.cpuSeconds).toFixed(2),
        middle(({ passage }) => passage.peakMegabytes).toFixed(0),
        middle(({ passage }) => passage.replay.total / passage.records).toFixed(2),
      ],
    ];
  };
  const rows = [
    ...row("bare lanes, batched writes (the floor)", (round) => round.floor),
    ...row("p-limit + fetch, one commit each", (round) => round.script),
    ...(["before", "now"] as const).flatMap((name) => [
      ...row(`crm-sync ${name}, first run`, ({ programs }) => programs[name]?.first),
      ...row(`crm-sync ${name}, no change`, ({ programs }) => programs[name]?.unchanged),
      ...row(`crm-sync ${name}, verify`, ({ programs }) => programs[name]?.verify),
    ]),
  ];
  return table(["way", "speed", "of the floor", "CPU s", "peak MB", "calls a customer"], rows);
}

/** Statements, commits and processor time of a customer in a first run. */
export function profileTable({ now, before }: OfPrograms<Profile>): string {
  const head = ["a customer, first run", ...(before === undefined ? [] : ["before"]), "now"];
  const row = (name: string, of: (profile: Profile) => string): string[] => [
    name,
    ...(before === undefined ? [] : [of(before)]),
    of(now),
  ];
  const spent = (profile: Profile, room: string): number =>
    profile.rooms.find((one) => one.room === room)?.milliseconds ?? 0;
  const all = [now, ...(before === undefined ? [] : [before])];
  const named = [...new Set(all.flatMap(({ rooms }) => rooms.map(({ room }) => room)))];
  const largest = named
    .map((room) => ({ room, most: Math.max(...all.map((profile) => spent(profile, room))) }))
    .filter(({ most }) => most >= 0.005)
    .toSorted((one, other) => other.most - one.most);
  return table(head, [
    row("SQL statements", ({ statements }) => statements.toFixed(1)),
    row("milliseconds in them", ({ statementMs }) => statementMs.toFixed(3)),
    row("commits", ({ commits }) => commits.toFixed(3)),
    row("WAL frames", ({ walFrames }) => walFrames.toFixed(2)),
    ...largest.map(({ room }) => row(`ms in ${room}`, (profile) => spent(profile, room).toFixed(3))),
  ]);
}

/** What the figures rest on, and what full durability costs. */
export function notes({ rounds, latency, parts }: Result): string[] {
  return [...(rounds === undefined ? [] : capacityNotes(rounds)), ...slowNotes(latency ?? []), ...partNotes(parts)];
}

function capacityNotes(rounds: readonly Round[]): string[] {
  const capacity = median(rounds.map(({ floor }) => floor.replay.total / floor.replay.cpuSeconds));
  const floor = median(rounds.map((round) => callsPerSecond(round.floor)));
  const calls = median(rounds.map(({ programs }) => callsPerSecond(programs.now.first)));
  const enough = capacity >= 3 * calls ? "enough" : "TOO LITTLE: at least 3 × is needed";
  return [
    `Replay server: ${rate(capacity, "calls")} on one core, ${rate(floor, "calls")} taken by the floor with ` +
      `${lanes} lanes, ${times(capacity / calls)} the program's ${rate(calls, "calls")} (${enough}).`,
  ];
}

function slowNotes(slow: NonNullable<Result["latency"]>): string[] {
  const groups = Map.groupBy(slow, ({ latencyMs, lanes }) => `${lanes} lanes at ${latencyMs} ms a call`);
  return [...groups].map(([what, rounds]) => {
    const held = median(rounds.map(({ floor }) => floor.replay.heldMs / floor.replay.total));
    const bound = median(rounds.map((round) => boundOf(round.floor, round.lanes)));
    const of = (way: (round: (typeof rounds)[number]) => Passage): string =>
      times(median(rounds.map((round) => recordsPerSecond(way(round)) / boundOf(way(round), round.lanes))));
    return (
      `Bound of ${what}: ${rate(bound, "records")}, by how long calls were really held (${held.toFixed(2)} ms); ` +
      `the floor reaches ${of(({ floor }) => floor)}, p-limit + fetch ${of(({ script }) => script)}, ` +
      `crm-sync ${of(({ first }) => first.now)} of it.`
    );
  });
}

function partNotes(parts: Result["parts"]): string[] {
  if (parts === undefined) return [];
  const { durability, commits, chain } = parts.now;
  const rateOf = ({ seconds }: { seconds: number }): number => commits.records / seconds;
  return [
    `One flush of this disk takes ${durability.flushMs.toFixed(2)} ms.`,
    "Writing calls that the ledger alone can record, at full durability in " +
      `groups: ${rate(durability.grouped, "calls")}; one commit each: ` +
      `${rate(durability.each, "calls")} (grouping gains ${times(durability.grouped / durability.each)}); ` +
      `at NORMAL in groups: ${rate(durability.normal, "calls")} (full durability costs ` +
      `${times(durability.normal / durability.grouped)}).`,
    `First run with one commit each: ${rate(rateOf(commits.each), "records")}, ` +
      `${times(rateOf(commits.each) / rateOf(commits.grouped))} that in groups.`,
    `Audit chain append: ${rate(chain.entries / chain.append, "entries")} of CPU in ${count(chain.entries)}.`,
  ];
}
