import type { Breaks } from "../break.ts";

/** Configurations that begin with a preset or with a sample: what of them is taken, and what is refused. */
export const presets: Breaks = {
  "a preset is read from wherever its name leads": {
    file: "src/config/presets.ts",
    within: "presetNamed",
    find: `typeof $name === "string" && $names.includes($name)`,
    replace: `typeof $name === "string"`,
    test: "config/presets.test.ts",
    title: "a source that names a preset > is refused with the presets that there are, where it names another",
  },
  "a mistake in a preset is told at the line of whoever names it": {
    file: "src/config/presets.ts",
    within: "layPreset",
    find: `markKey(["sources", $source, ...path])`,
    replace: `markKey(["sources", $source, "nowhere"])`,
    test: "config/presets.test.ts",
    title:
      "a source that names a preset > learns of a mistake in the preset by the file and line of the preset, and of its own by its own",
  },
  "what a preset leaves to a person is not asked for": {
    file: "src/config/presets.ts",
    within: "layPresets",
    find: "if ($missing.length > 0)",
    replace: "if ($missing.length > 99)",
    test: "config/presets.test.ts",
    title: "a source that names a preset > is told what the preset leaves to it, once, at its own line",
  },
  "what reads a secret takes any text for one": {
    file: "src/http/http-settings.ts",
    within: "sourceSecretSchema",
    find: "/^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+|command:.*\\S.*)$/s",
    replace: "/^.*$/s",
    test: "config/presets.test.ts",
    title:
      "a source that names a preset > is refused by the line of the preset where that holds a secret itself, which is not repeated, or anything but data",
  },
  "a preset takes another one's settings in": {
    file: "src/config/presets.ts",
    within: "presetIn",
    find: `if ($value["preset"] !== undefined)`,
    replace: "if (false)",
    test: "config/presets.test.ts",
    title:
      "a source that names a preset > is refused by the line of the preset where that holds a secret itself, which is not repeated, or anything but data",
  },
  "a secret in an address is written into the proposal": {
    file: "src/app/address-secrets.ts",
    within: "withoutSecrets",
    find: "if (!secretName.test($name)) return true;",
    replace: "return true;",
    test: "cli/init-from.test.ts",
    title: "init --from > writes no secret of an address into the file, and names none in what it says",
  },
};
