import { keeping } from "../breaks/keeping.ts";
import { stage } from "../stage.ts";

stage(keeping);
