import type { Breaks } from "../break.ts";

/** What a source is asked over HTTP, and what its answers are believed. */
export const asking: Breaks = {
  "an error inside HTTP 200 is read as an empty list": {
    file: "src/source/http/answer/answer.ts",
    within: "pageOf",
    find: "refuse(json.document, errors);",
    replace: "",
    test: "source/http-answers.test.ts",
    title:
      "an error inside HTTP 200 > of GraphQL beside an empty list is told in its own words and never read as an empty list",
  },
  "the words of a service are shown as they are": {
    file: "src/source/http/request.ts",
    within: "Attempt.#words",
    find: "shownWords(words, secrets, 200)",
    replace: "words",
    test: "source/http-answers.test.ts",
    title: "an error inside HTTP 200 > is told without addresses, numbers, tags and secrets",
  },
  "half a page is believed": {
    file: "src/source/http/answer/answer.ts",
    within: "readAnswer",
    find: "Number(told) === page.items.length",
    replace: "Number(told) >= page.items.length",
    test: "source/http-answers.test.ts",
    title: "an answer in rows > of CSV that has fewer rows than its header says is not read",
  },
  "XML without the records that were asked for is an empty list": {
    file: "src/source/http/answer/xml.ts",
    within: "isEmptyElement",
    find: "besideOthers || ",
    replace: "true || ",
    test: "source/http-answers.test.ts",
    title: "an answer in XML > is no empty list where other elements stand in its place, unless the settings say so",
  },
  "each new session that is refused is begun anew": {
    file: "src/source/http/session.ts",
    within: "createSession",
    never: "refusedInRow",
    test: "source/http-session.test.ts",
    title:
      "a log-in whose answer gives a session > is made twice and no more where every session is refused with HTTP 401, by however many readers",
  },
  "a log-in that failed is made again by each reading": {
    file: "src/source/http/session.ts",
    within: "createSession",
    find: "if (thrown instanceof Problem) rest(thrown);",
    replace: "",
    test: "source/http-session.test.ts",
    title:
      "a log-in whose answer gives a session > is not made again and again with a wrong password, and says what is wrong without it",
  },
  "a key that goes back is taken for the next one": {
    file: "src/source/http/key-order.ts",
    within: "KeyOrder.#take",
    find: "!this.#isBehind(this.#last, key)",
    replace: "false",
    test: "source/http-paging.test.ts",
    title: "a list that is read by its keys > is incomplete by name when a key goes back on one page",
  },
  "a key ends the text that it is put into": {
    file: "src/source/http/placement.ts",
    within: "insideText",
    find: "mayStand.test(text)",
    replace: "true",
    test: "source/http-paging.test.ts",
    title: "a list that is read by its keys > never lets a key end the text that it is put into",
  },
  "a key that is an expression is put where no quotes stand": {
    file: "src/source/http/placement.ts",
    within: "insideText",
    find: "standsQuoted(old) ? harmless : oneWord",
    replace: "harmless",
    test: "source/http-joined.test.ts",
    title:
      "details that are asked for record by record > take no key for an expression, where no quotes stand in a text of the query",
  },
  "a list that says more pages follow and names none is at its end": {
    file: "src/source/http/paging.ts",
    within: "createPaging",
    find: "if (more === true) throw wrongNext(who, seen.url, next ?? `the header ${nextHeader}`);",
    replace: "",
    test: "source/http-paging.test.ts",
    title:
      "parameters at any place of a request > say that more pages follow and name none: the reading is incomplete, and not at its end",
  },
  "a link leads to another server, which is shown our credentials": {
    file: "src/source/http/paging.ts",
    within: "follow",
    never: "origin",
    test: "source/http-paging.test.ts",
    title: "parameters at any place of a request > never lead to http://127.0.0.2:1/customers",
  },
  "a reading by pages that was cut and goes on counts as whole": {
    file: "src/source/http/list.ts",
    within: "PagedList.#mayMove",
    find: "return resumed && ",
    replace: "return false && ",
    test: "source/http-paging.test.ts",
    title:
      "a reading that was cut > by pages goes on, and is not full and has no cursor, since records may have moved meanwhile",
  },
  "how far a reading has come is kept with a secret in it": {
    file: "src/source/http/position.ts",
    within: "positionText",
    find: "one.includes(secret)",
    replace: "false",
    test: "source/http-paging.test.ts",
    title: "a reading that was cut > is told of no position that holds a secret of ours or an address of somebody",
  },
  "changes after clocks were set back are not asked for": {
    file: "src/source/http/time-format.ts",
    within: "writeTime",
    find: "earliestFrom(zoned)",
    replace: "zoned",
    test: "source/time-format.test.ts",
    title:
      "a service that writes times in its own way > is asked from the time that its clocks are set back to, where they are set back after the time meant",
  },
};
