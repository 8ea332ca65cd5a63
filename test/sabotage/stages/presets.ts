import { presets } from "../breaks/presets.ts";
import { stage } from "../stage.ts";

stage(presets);
