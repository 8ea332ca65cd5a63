import type { Breaks } from "../break.ts";

/** Reading sources: what is asked for, what goes on where it was cut, and what is mapped anew. */
export const reading: Breaks = {
  "a reading goes on that was begun with other settings": {
    file: "src/run/read-question.ts",
    within: "askedOf",
    find: "$cut.question === $question && $age >= 0",
    replace: "($cut.question === $question || $age >= 0) && $age >= 0",
    test: "run/cut-reads.test.ts",
    title: "a reading that was cut > begins anew when its settings changed",
  },
  "a list that may have moved is believed to be whole": {
    file: "src/run/read-parts.ts",
    within: "ReadPart.judged",
    find: "$outcome.full) return $outcome;",
    replace: "$outcome.complete) return $outcome;",
    test: "run/cut-reads.test.ts",
    title:
      "a reading that was cut > of a list that may have moved is not believed to be whole, and the next run reads everything",
  },
  "what the first part of a reading has met is missed": {
    file: "src/ledger/records/checkpoints.ts",
    within: "Checkpoints.goOn",
    find: "$reading.seen.takeOver($hashes);",
    replace: "$hashes.length;",
    test: "run/cut-reads.test.ts",
    title:
      "a reading that was cut > knows what its first part has met, changed or not: that is not missed, and what is gone is",
  },
  "a source that shrank is judged by the last part of its reading": {
    file: "src/run/ingest.ts",
    within: "ingestStream",
    find: "const $rows = $tally.extracted + $part.rowsBefore;",
    replace: "const $rows = $tally.extracted;",
    test: "run/cut-reads.test.ts",
    title: "a reading that was cut > counts all of its parts where it is judged whether the source shrank",
  },
  "a plan keeps where a run goes on": {
    file: "src/run/source-reading.ts",
    within: "SourceReading.#readStreams",
    find: "keeps: this.#countsAbsence,",
    replace: "keeps: true,",
    test: "run/cut-reads.test.ts",
    title:
      "a reading that was cut > is neither used nor forgotten nor kept by a plan, and a person who asks for a source has it read from its start",
  },
  "changes alone are read although a setting changed": {
    file: "src/run/read-question.ts",
    within: "sinceOf",
    find: "if ($whole?.question !== $question) return undefined;",
    replace: "if ($whole === undefined) return undefined;",
    test: "run/cut-reads.test.ts",
    title: "everything is read > when nobody knows what the last reading asked for, by the next run",
  },
  "what a reading with other settings took is forgotten": {
    file: "src/run/read-question.ts",
    within: "sinceOf",
    find: "if (await $records.checkpoints.wasAskedOtherwise($source.name, $stream, $whole.number, $question)) return undefined;",
    replace: "",
    test: "run/cut-reads.test.ts",
    title:
      "everything is read > where a reading that was cut used other settings meanwhile, which are as they were by now",
  },
  "a stored form that is not the last one is mapped anew": {
    file: "src/run/remap.ts",
    within: "mapAnew",
    find: `if (!$isOfNow && !$earlier.some(($fingerprint) => hashOfRaw($value, $salt, $fingerprint) === $hash)) return "older";`,
    replace: "",
    test: "run/cut-reads.test.ts",
    title: "stored raw forms > that were erased, or are not known to be what came last, are left and told of",
  },
  "a form that maps to the same leaves the older one stored": {
    file: "src/ledger/records/record-tables.ts",
    within: "RecordTables.ingest",
    find: "this.#statements.keepRaw.run($item.raw, `raw:${$ref}`, $existing.version, $item.raw);",
    replace: "",
    test: "run/cut-reads.test.ts",
    title:
      "stored raw forms > are mapped anew without the source, changed or not, and nothing of it counts as seen or gone",
  },
  "changes of the same instant are passed by": {
    file: "src/source/http/newest-change.ts",
    within: "NewestChange.cursor",
    find: "Math.max(this.#since.overlapMs, leastOverlapMs)",
    replace: "-1",
    test: "source/newest-change.test.ts",
    title: "the next reading of changes begins before the newest change, so that those of the same instant come again",
  },
  "what was changed while a reading lasted is passed by": {
    file: "src/source/http/newest-change.ts",
    within: "NewestChange.see",
    find: "this.#clock.monotonic() - this.#begunAt",
    replace: "0",
    test: "source/newest-change.test.ts",
    title:
      "the next reading of changes reaches back to what was changed while it lasted, and passed by on a page before",
  },
  "a token of one service goes to each address that is looked at": {
    file: "src/app/init-from.ts",
    within: "checkToken",
    find: "if (origins.size > 1)",
    replace: "if (origins.size > 9)",
    test: "cli/init-from.test.ts",
    title:
      "init --from > asks an address with a token, which goes to that service alone and stands in no file and no message",
  },
  "a token goes to an address over plain http": {
    file: "src/app/init-from.ts",
    within: "checkToken",
    find: "if (addresses.some((input) => isPlainHttp(input)))",
    replace: "if (addresses.length === 0)",
    test: "cli/init-from.test.ts",
    title:
      "init --from > asks an address with a token, which goes to that service alone and stands in no file and no message",
  },
  "check is content with an id that several records have": {
    file: "src/app/repeated-ids.ts",
    within: "repeatedIds",
    find: "contents.size > 1",
    replace: "contents.size > 9",
    test: "cli/check-lists.test.ts",
    title: "check of the lists of a source > is not content with an id that several records have, as a run is not",
  },
  "a first row that may be a record is told of as names of columns": {
    file: "src/source/file/csv.ts",
    within: "CsvReading.#lacking",
    find: "const isHeader = header.some((name) => this.#columns.includes(name));",
    replace: "const isHeader = true;",
    test: "source/file.test.ts",
    title: "a CSV file > without a column that somebody reads gives no rows: a field that is gone would look empty",
  },
  "an id that stood twice waits although a whole read has it once": {
    file: "src/ledger/records/record-statements.ts",
    within: "recordStatements",
    find: "and code <> 'duplicate-id' and raw_hash in (select value from json_each(?))`,",
    replace: "and raw_hash in (select value from json_each(?))`,",
    test: "ledger/records.test.ts",
    title:
      "an id that stands twice in one read > is good again once a whole read has it once, in its second form, and by no read of changes before",
  },
  "a stored form that is refused waits anew after each whole read": {
    file: "src/ledger/records/remapping.ts",
    within: "Remapping.#takeOne",
    find: "{ ofStoredForm: true }",
    replace: "{ ofStoredForm: false }",
    test: "run/cut-reads.test.ts",
    title:
      "stored raw forms > of a record that is missing and that the mapping of now refuses waits in one row from whole read to whole read",
  },
};
