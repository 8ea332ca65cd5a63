import { skipping } from "../breaks/skipping.ts";
import { stage } from "../stage.ts";

stage(skipping);
