import { tracing } from "../breaks/tracing.ts";
import { stage } from "../stage.ts";

stage(tracing);
