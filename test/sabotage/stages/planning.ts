import { planning } from "../breaks/planning.ts";
import { stage } from "../stage.ts";

stage(planning);
