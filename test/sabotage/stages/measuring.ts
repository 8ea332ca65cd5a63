import { measuring } from "../breaks/measuring.ts";
import { stage } from "../stage.ts";

stage(measuring);
