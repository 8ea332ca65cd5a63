import { expect, it } from "vitest";
import { ReadingWorld } from "../support/world/reading-world.ts";

it("a reading whose batch cannot be taken up is closed, and its own failure is told", async () => {
  const w = await ReadingWorld.open(10);
  w.add(60);
  let isClosed = false;
  const read = w.source.read.bind(w.source);
  w.source.read = async function* (stream, options) {
    try {
      return yield* read(stream, options);
    } finally {
      isClosed = true;
    }
  };
  const { records } = w.ledger;
  const startRead = records.startRead.bind(records);
  let batches = 0;
  records.startRead = async (...asked) => {
    const reading = await startRead(...asked);
    const ingest = reading.ingest.bind(reading);
    reading.ingest = async (...given) => {
      batches += 1;
      if (batches === 3) throw new Error("no temporary space");
      return await ingest(...given);
    };
    return reading;
  };
  const tally = await w.read();
  expect(isClosed).toBe(true);
  expect(tally).toMatchObject({ complete: false, problem: { code: "source.failed" } });
  expect(tally?.problem?.message).toContain("no temporary space");
});
