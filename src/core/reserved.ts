// Names of the tools the core answers itself (S17).

export const TRANSITION = "workflow__transition";
export const SET_ARTIFACT = "workflow__set_artifact";
export const SKILL_ACTIVATE = "skill__activate";
export const SKILL_READ = "skill__read_resource";
