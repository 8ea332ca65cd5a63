import { assumptionsPage } from "./assumptions-page.ts";
import { codesPage } from "./codes-page.ts";
import { commandsPage } from "./commands-page.ts";
import { configurationPage, sectionPages } from "./configuration-page.ts";
import { editorSchemaOf } from "./editor-schema.ts";
import { manPage } from "./man-page.ts";
import { mappingPage } from "./mapping-page.ts";
import { metricsPage } from "./metrics-page.ts";
import { presetsPage } from "./presets-page.ts";
import { statementSchemas } from "./statement-schemas.ts";
import { statementsPage } from "./statements-page.ts";
import { configSchema } from "../../src/config/config.ts";

/** Every generated file, by its path from `docs/`. */
export const pages: Readonly<Record<string, () => string>> = {
  "reference/configuration.md": configurationPage,
  "reference/codes.md": codesPage,
  "reference/commands.md": commandsPage,
  "reference/mapping.md": mappingPage,
  "reference/presets.md": presetsPage,
  "reference/assumptions.md": assumptionsPage,
  "reference/statements.md": statementsPage,
  "reference/metrics.md": metricsPage,
  "reference/crm-sync.1": manPage,
  "../config/schema.json": () => `${JSON.stringify(editorSchemaOf(configSchema), null, 1)}\n`,
  ...sectionPages,
  ...statementSchemas,
};
