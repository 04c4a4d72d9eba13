// The form in which the schema is known at run time: the generated table `shapes` is made of these.

export type JsonType = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";

/** One node of the schema. Absent means unconstrained, so `{}` accepts anything. */
export interface Shape {
  /** Name of a definition that says the rest. */
  readonly ref?: string;
  readonly type?: readonly JsonType[];
  readonly enum?: readonly (string | number)[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Shape>>;
  /** What keys outside `properties` hold; `false` closes the object, absent lets anything through. */
  readonly rest?: Shape | false;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  /** When property `key` is `value`, `keys` are required, else `otherwise`. */
  readonly requiredWhen?: {
    readonly key: string;
    readonly value: string;
    readonly keys: readonly string[];
    readonly otherwise: readonly string[];
  };
  /** One of these keys must be there. */
  readonly atLeastOne?: readonly string[];
  /** Exactly one of these must fit. */
  readonly forms?: readonly Shape[];
  readonly variants?: Variants;
  /** A value to propose when a required property is missing, as it is written in YAML. */
  readonly sample?: string;
}

/** Definitions chosen by the text in one property; `other` takes every text that `byValue` does not list. */
export interface Variants {
  readonly key: string;
  readonly byValue: Readonly<Record<string, string>>;
  readonly other: string;
}
