import { assumptionsPage } from "./assumptions-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { manPage } from "./man-page.ts";
import { mappingPage } from "./mapping-page.ts";
import { metricsPage } from "./metrics-page.ts";
import { presetsPage } from "./presets-page.ts";
import { statementSchemas } from "./statement-schemas.ts";
import { statementsPage } from "./statements-page.ts";

/** The pages of the reference, by file name in `docs/`. */
export const pages: Readonly<Record<string, () => string>> = {
  "configuration.md": configurationPage,
  "mapping.md": mappingPage,
  "presets.md": presetsPage,
  "assumptions.md": assumptionsPage,
  "statements.md": statementsPage,
  "metrics.md": metricsPage,
  "crm-sync.1": manPage,
  ...statementSchemas,
};
