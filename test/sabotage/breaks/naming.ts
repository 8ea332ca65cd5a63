import type { Breaks } from "../break.ts";

const title = "schema and map show no name of a member that may be data, but to whoever asks for personal data";

/** Names of members that may be personal data. */
export const naming: Breaks = {
  "names that differ from record to record are shown": {
    file: "src/source/member-names.ts",
    within: "MemberNames.#judge",
    find: "$count === $at.count && fieldName.test($name)",
    replace: "fieldName.test($name)",
    test: "cli/seeing.test.ts",
    title,
  },
  "an address is taken for the name of a field": {
    file: "src/source/member-names.ts",
    within: "MemberNames.#judge",
    find: "$count === $at.count && fieldName.test($name)",
    replace: "$count === $at.count",
    test: "source/member-names.test.ts",
    title: "names of members > are data in few objects, and where they look like an address, a person or a number",
  },
  "a mapped record is shown with the names of its members": {
    file: "src/app/mapped-examples.ts",
    within: "exampleOf",
    find: "$shown.named($raw)",
    replace: "$raw",
    test: "cli/seeing.test.ts",
    title,
  },
  "the fields of a source are told with the names of members": {
    file: "src/app/stream-schema.ts",
    within: "streamSchema",
    find: "options.showPrivate ? undefined : namesOf($rows, $ways)",
    replace: "undefined",
    test: "cli/seeing.test.ts",
    title,
  },
};
