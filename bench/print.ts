import Table from "cli-table3";
import type { Parts } from "./parts.ts";
import type { Passage, Road, Round } from "./road.ts";
import { lanes, middle } from "./road.ts";
import type { Figure } from "./targets.ts";
import { boundOf, rate, times } from "./targets.ts";

function table(head: string[], rows: string[][]): string {
  const made = new Table({ head, style: { head: [], border: [] } });
  made.push(...rows);
  return made.toString();
}

/** The targets with their figures. */
export function targetTable(figures: readonly Figure[]): string {
  return table(
    ["", "what", "figure", "target", "ratio", "verdict"],
    figures.map((item) => [
      item.target,
      item.what,
      item.figure ?? "–",
      item.wanted,
      item.ratio,
      item.verdict === "below" ? "BELOW" : item.verdict,
    ]),
  );
}

/** What each way through the customers cost. */
export function wayTable(road: Road): string {
  const row = (name: string, way: (round: Round) => Passage): string[] => [
    name,
    rate(
      middle(road, (round) => way(round).recordsPerSecond),
      "records",
    ),
    times(middle(road, (round) => way(round).recordsPerSecond / round.floor.recordsPerSecond)),
    middle(road, (round) => way(round).cpuSeconds).toFixed(2),
    middle(road, (round) => way(round).peakMegabytes).toFixed(0),
    middle(road, (round) => way(round).replay.total / way(round).records).toFixed(2),
  ];
  const single = (name: string, passage: Passage, floor: Passage): string[] => [
    name,
    rate(passage.recordsPerSecond, "records"),
    times(passage.recordsPerSecond / floor.recordsPerSecond),
    passage.cpuSeconds.toFixed(2),
    passage.peakMegabytes.toFixed(0),
    (passage.replay.total / passage.records).toFixed(2),
  ];
  const { latency, memory } = road;
  const rows = [
    row("bare lanes, batched writes (the floor)", (round) => round.floor),
    row("p-limit + fetch, one commit each", (round) => round.script),
    row("crm-sync, first run", (round) => round.first),
    row("crm-sync, no change", (round) => round.unchanged),
    row("crm-sync, verify", (round) => round.verify),
    single(`bare lanes, ${latency.ms} ms a call`, latency.floor, latency.floor),
    single(`p-limit + fetch, ${latency.ms} ms a call`, latency.script, latency.floor),
    single(`crm-sync, first run, ${latency.ms} ms a call`, latency.first, latency.floor),
  ];
  if (memory !== undefined) {
    const count = new Intl.NumberFormat("en-US").format(memory.first.records);
    rows.push(
      [...single(`crm-sync, first run of ${count}`, memory.first, memory.first)].with(2, "–"),
      [...single(`crm-sync, no change in ${count}`, memory.unchanged, memory.first)].with(2, "–"),
    );
  }
  return table(["way", "speed", "of the floor", "CPU s", "peak MB", "calls a customer"], rows);
}

/** What the figures rest on, and what full durability costs. */
export function notes(road: Road, parts: Parts): string[] {
  const capacity = middle(road, (round) => round.floor.replay.total / round.floor.replay.cpuSeconds);
  const calls = middle(road, (round) => round.first.replay.total / round.first.wallSeconds);
  const floorCalls = middle(road, (round) => round.floor.replay.total / round.floor.wallSeconds);
  const first = middle(road, (round) => round.first.recordsPerSecond);
  const { durability, order, chain } = parts;
  const enough = capacity >= 3 * calls ? "enough" : "TOO LITTLE: at least 3 × is needed";
  return [
    `Replay server: ${rate(capacity, "calls")} on one core, ${rate(floorCalls, "calls")} taken ` +
      `by the floor, ${times(capacity / calls)} the program's ${rate(calls, "calls")} (${enough}).`,
    `Bound of ${lanes} lanes at ${road.latency.ms} ms a call: ` +
      `${rate(boundOf(road.latency.first), "records")}, by how long calls were really held ` +
      `(${(road.latency.first.replay.heldMs / road.latency.first.replay.total).toFixed(2)} ms).`,
    `One flush of this disk takes ${durability.flushMs.toFixed(2)} ms.`,
    "Writing calls that the ledger alone can record, at full durability in " +
      `groups: ${rate(durability.grouped, "calls")}; one commit each: ` +
      `${rate(durability.each, "calls")} (grouping gains ${times(durability.grouped / durability.each)}); ` +
      `at NORMAL in groups: ${rate(durability.normal, "calls")} (full ` +
      `durability costs ${times(durability.normal / durability.grouped)}).`,
    `First run with one commit each: ${rate(road.commitEach.recordsPerSecond, "records")}, ` +
      `${times(road.commitEach.recordsPerSecond / first)} that in groups.`,
    `An order with packages three levels deep and 13 products: ${order.deep.toFixed(0)} ` +
      `µs. Audit chain append: ${rate(chain.appendedPerSecond, "entries")}.`,
  ];
}
