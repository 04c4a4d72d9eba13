// The form of a question: one field for each thing that is asked for.

import { type ReactNode, useId, useState } from "react";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { visible } from "../part/format.ts";
import { answerOf, type Filled, fieldKey, fieldsOf, type SchemaField } from "./schema-fields.ts";

interface FormProps {
  readonly schema: JsonObject;
  readonly word: string;
  readonly act: (value: Json) => Promise<void>;
  readonly back?: () => void;
}

export function SchemaForm({ schema, word, act, back }: FormProps) {
  const [filled, setFilled] = useState<Filled>({});
  const [problem, setProblem] = useState<string>();
  const fields = fieldsOf(schema);
  const send = (): void => {
    const answer = answerOf(fields, filled);
    setProblem(answer.ok ? undefined : answer.message);
    if (answer.ok) void act(answer.value);
  };
  return (
    <form
      className="confirm"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {fields.map((field) => (
        <Field
          key={fieldKey(field)}
          field={field}
          text={filled[fieldKey(field)] ?? field.initial}
          fill={(text) => setFilled({ ...filled, [fieldKey(field)]: text })}
        />
      ))}
      {problem !== undefined && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      <div className="actions">
        <button type="submit" className="button primary">
          {word}
        </button>
        {back !== undefined && (
          <button type="button" className="button quiet" onClick={back}>
            Back
          </button>
        )}
      </div>
    </form>
  );
}

interface FieldProps {
  readonly field: SchemaField;
  readonly text: string;
  readonly fill: (text: string) => void;
}

function Field({ field, text, fill }: FieldProps) {
  const hintId = useId();
  const { kind, label, hint, isNeeded } = field;
  const name = `${visible(label)}${isNeeded ? "" : ", if you like"}${kind === "json" ? ", as JSON" : ""}`;
  const about = hint === "" ? {} : { "aria-describedby": hintId };
  const shown = hint !== "" && (
    <span id={hintId} className="faint small">
      {visible(hint)}
    </span>
  );
  if (kind === "flag")
    return (
      <div className="field">
        <label className="check">
          <input
            type="checkbox"
            checked={text === "true"}
            onChange={(event) => fill(String(event.target.checked))}
            {...about}
          />
          {visible(label)}
        </label>
        {shown}
      </div>
    );
  return (
    <div className="field">
      <label className="field">
        {name}
        <Control field={field} text={text} fill={fill} about={about} />
      </label>
      {shown}
    </div>
  );
}

interface ControlProps extends FieldProps {
  readonly about: Readonly<Record<string, string>>;
}

function Control({ field, text, fill, about }: ControlProps): ReactNode {
  const { kind, options, isNeeded } = field;
  switch (kind) {
    case "choice":
      return (
        <select value={text} required={isNeeded} onChange={(event) => fill(event.target.value)} {...about}>
          <option value="">choose…</option>
          {options.map((option, index) => (
            <option key={index} value={String(index)}>
              {visible(typeof option === "string" ? option : JSON.stringify(option))}
            </option>
          ))}
        </select>
      );
    case "number":
    case "text":
      return (
        <input
          inputMode={kind === "number" ? "decimal" : "text"}
          value={text}
          required={isNeeded}
          onChange={(event) => fill(event.target.value)}
          {...about}
        />
      );
    default:
      return (
        <textarea
          rows={3}
          className={kind === "json" ? "mono" : undefined}
          value={text}
          required={isNeeded}
          onChange={(event) => fill(event.target.value)}
          {...about}
        />
      );
  }
}
