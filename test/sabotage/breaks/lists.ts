import type { Breaks } from "../break.ts";

/** What records are made of: lists that move, details, requests made record by record, rows that are grouped. */
export const lists: Breaks = {
  "a page that does not begin where the one before ended is taken for the next one": {
    file: "src/source/http/list.ts",
    within: "PagedList.#seamProblem",
    find: "const $isKnown = first !== undefined &&",
    replace: "const $isKnown = true || first !== undefined &&",
    test: "source/moving.test.ts",
    title: "a list that is read by offset and loses one at every page is incomplete",
  },
  "a pass that lost a record is believed": {
    file: "src/source/http/moving.ts",
    within: "Passes.lostSinceBefore",
    find: "return { key, place };",
    replace: "return undefined;",
    test: "source/moving.test.ts",
    title: "a list that is read by page and loses one at every page is incomplete",
  },
  "a list that is paged by number is not read again": {
    file: "src/source/http/moving.ts",
    within: "movingOf",
    find: `return paging.kind === "page" || counts ? "again" : "trust";`,
    replace: `return "trust";`,
    test: "source/moving.test.ts",
    title: "a list that is read by page is complete although one was deleted, once a pass lost nothing",
  },
  "records are joined although their details were not read whole": {
    file: "src/source/joined.ts",
    within: "readJoined",
    find: "if (problem !== undefined) return { complete: false, full, rows, problem };",
    replace: "",
    test: "source/http-joined.test.ts",
    title: "two endpoints joined by key > give no record where the list of details fails",
  },
  "a request for one record that failed counts as none": {
    file: "src/source/http/chain.ts",
    within: "answerOf",
    find: `if (complete || (problem?.code === "source.not-found" && rows === 0)) return undefined;`,
    replace: "if (complete || rows === 0) return undefined;",
    test: "source/http-joined.test.ts",
    title:
      "details that are asked for record by record > are never none because a request failed, and a 404 means none only where that is said",
  },
  "a look-up table of which a page failed is taken as it came": {
    file: "src/source/http/table.ts",
    within: "tableRows",
    find: "if (next.done === true) return next.value.problem;",
    replace: "if (next.done === true) return undefined;",
    test: "source/http-tables.test.ts",
    title:
      "a look-up table that is a list of a service > is no table with a page that fails: source and table are named, and nothing is mapped",
  },
  "one page that says that there is more is taken for everything": {
    file: "src/source/http/list.ts",
    within: "PagedList.#take",
    find: "if (!isNothing) reading.beyond = this.#problems.beyond(page, reading);",
    replace: "",
    test: "source/http-one-page.test.ts",
    title:
      "one answer that is taken for all there is > is incomplete where it says that there is more, and its records are taken all the same",
  },
  "a list that ends by its own rule is taken for everything, whatever its last answer says": {
    file: "src/source/http/list.ts",
    within: "PagedList.#take",
    find: "if (!isNothing) reading.beyond = this.#problems.beyond(page, reading);",
    replace: `if (!isNothing && this.#settings.paging.kind === "none") reading.beyond = this.#problems.beyond(page, reading);`,
    test: "cli/one-page.test.ts",
    title:
      "a list whose cursor is looked for in the wrong place takes nothing away and adds no half: three runs of two sources end with 7",
  },
  "an answer that says that nothing changed is taken for an empty list of everything": {
    file: "src/source/http/answer/answer.ts",
    within: "nothingIn",
    find: "if (status !== 304 || changesOnly) return",
    replace: "return",
    test: "source/http-forms.test.ts",
    title: "a status without content > that says that nothing changed is never a list of everything",
  },
  "a value in a request of XML is written as it is, and may end the text around it": {
    file: "src/source/http/placement.ts",
    within: "xmlText",
    find: `xmlMarks[mark] ?? ""`,
    replace: "mark",
    test: "source/http-xml-body.test.ts",
    title: "a request whose body is XML > is made for each record with its value, which cannot end the text around it",
  },
  "a quote inside a quoted value is written as it is": {
    file: "src/source/http/placement.ts",
    within: "quotedTexts",
    find: `text.replaceAll("'", "''")`,
    replace: "text",
    test: "source/http-quoted.test.ts",
    title: "values of several records in a query of the service > cannot end their quotes, however these are written",
  },
  "a group drops a row that stands like another one": {
    file: "src/source/grouped.ts",
    within: "recordMaker",
    find: "[into]: sorted.map(({ value }) => value)",
    replace: "[into]: [...new Map(sorted.map(({ order, value }) => [order, value])).values()]",
    test: "source/grouped.test.ts",
    title:
      "rows that are grouped > are all counted where they are alike, since without a key nobody can tell that one stands twice",
  },
  "a record of rows that stand twice is made all the same": {
    file: "src/source/grouped.ts",
    within: "recordMaker",
    find: "if (marked) return undefined;",
    replace: "",
    test: "source/grouped.test.ts",
    title:
      "rows that are grouped > name a row without a key, a row that stands twice and rows that disagree, and every other record is read",
  },
  "a row of a list in a record is lost": {
    file: "src/source/nested-rows.ts",
    within: "nestedRows",
    find: "(Array.isArray(found) ? found : [found]).entries()",
    replace: "(Array.isArray(found) ? found.slice(0, 1) : [found]).entries()",
    test: "source/nested.test.ts",
    title:
      "rows that stand in a list of a record > become people, whose seats of several orders stand together, each with its order",
  },
  "rows of a record that stands twice count all the same": {
    file: "src/source/grouped.ts",
    within: "rowsTwice",
    find: "if (placeOf.size === 1) continue;",
    replace: "if (inside !== undefined || placeOf.size === 1) continue;",
    test: "source/nested.test.ts",
    title:
      "rows that stand in a list of a record > of a record that stands twice are nobody's, and people without a row of it are read",
  },
  "a secret is taken out of rows that keep it": {
    file: "src/source/source-settings.ts",
    within: "secretsInGroups",
    find: "$names.map(($name): [Stream, string] => [$stream, $name])",
    replace: "[]",
    test: "source/grouped.test.ts",
    title: "grouping refuses to take a secret out of its rows, which would keep it: it is read in them",
  },
  "a list that is read by keys ends at its total although a record came": {
    file: "src/source/http/paging.ts",
    within: "createPaging",
    find: "{ ...seen, total: undefined }",
    replace: "seen",
    test: "source/http-paging.test.ts",
    title:
      "a list that is read by its keys > does not end at its total where a record came meanwhile: that one is read, too",
  },
  "the total of what is behind a key is taken for that of the list": {
    file: "src/source/http/list.ts",
    within: "PagedList.#take",
    find: `this.#settings.paging.kind === "keyset" ? $reading.total : $said`,
    replace: "$said",
    test: "source/http-paging.test.ts",
    title:
      "a list that is read by its keys > is incomplete when it ends before its first total, whatever a later one says of what is behind a key",
  },
  "a file of a reading that was left stays open": {
    file: "src/source/file/source.ts",
    within: "readPlain",
    skips: "return",
    test: "source/file.test.ts",
    title: "a file that was left in its middle is closed, packed and joined ones too",
  },
  "a record that cannot be used is met by the first pass alone": {
    file: "src/source/http/moving.ts",
    within: "Passes.see",
    find: "this.#area.put($part, $rows); if ($before === undefined) return [];",
    replace:
      'this.#area.put($part, $rows.filter(({ key }) => !key.startsWith("bad "))); if ($before === undefined) return [];',
    test: "source/moving.test.ts",
    title: "a list that is read by page and moves loses no record unnoticed that cannot be used",
  },
};
