// The package index would draw in a validator that needs eval.
import Form from "@rjsf/core/lib/components/Form.js";
import CheckboxesWidget from "@rjsf/core/lib/components/widgets/CheckboxesWidget.js";
import SelectWidget from "@rjsf/core/lib/components/widgets/SelectWidget.js";
import type {
  ArrayFieldItemTemplateProps,
  FieldTemplateProps,
  IconButtonProps,
  MultiSchemaFieldTemplateProps,
  RJSFSchema,
  TitleFieldProps,
  ValidatorType,
  WidgetProps,
} from "@rjsf/utils";
import { toErrorSchema } from "@rjsf/utils";
import { ArrowDown, ArrowUp, Plus, X } from "lucide-react";
import { type ReactElement, useMemo } from "react";
import { forForm } from "@/lib/form-schema";
import { validate } from "@/lib/schema";
import type { SchemaFormProps } from "./schema-form";
import { Button, IconButton } from "./ui/button";

// ajv compiles schemas with eval, which the page's policy forbids.
const validator: ValidatorType = {
  validateFormData(formData, schema) {
    const errors = validate(schema, formData).map((p) => ({
      property: `.${p.path.join(".")}`,
      message: p.message,
      stack: p.message,
    }));
    return { errors, errorSchema: toErrorSchema(errors) };
  },
  isValid(schema, formData, rootSchema) {
    const root = rootSchema as { $defs?: unknown; definitions?: unknown } | undefined;
    const whole = { $defs: root?.$defs, definitions: root?.definitions, ...(schema as object) };
    return validate(JSON.parse(JSON.stringify(whole)), formData).length === 0;
  },
  rawValidation(schema, formData) {
    return { errors: validate(schema, formData) as never[] };
  },
};

function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, children, errors, rawErrors, description, hidden, required, displayLabel, schema } =
    props;
  if (hidden) return <div className="hidden">{children}</div>;
  const checkbox = schema.type === "boolean";
  return (
    <div className="grid min-w-0 gap-1">
      {displayLabel && schema.const !== undefined && (
        <p className="text-xs">
          <span className="font-mono">{label}</span>
          <span className="text-ink-3"> always </span>
          <span className="font-mono text-ink-2">{JSON.stringify(schema.const)}</span>
        </p>
      )}
      {displayLabel && !checkbox && schema.const === undefined && (
        <label htmlFor={id} className="font-mono text-xs">
          {label}
          {required && <span className="font-sans text-ink-3"> required</span>}
        </label>
      )}
      {schema.const === undefined && children}
      {displayLabel && description}
      {rawErrors?.length ? errors : null}
    </div>
  );
}

function ArrayItem({ children, buttonsProps: b, hasToolbar }: ArrayFieldItemTemplateProps) {
  const n = b.index + 1;
  return (
    <div className="flex items-end gap-1">
      <div className="min-w-0 flex-1">{children}</div>
      {hasToolbar && (
        <div className="flex">
          <IconButton
            label={`Move item ${n} up`}
            size="icon-sm"
            disabled={!b.hasMoveUp}
            onClick={b.onMoveUpItem}
          >
            <ArrowUp />
          </IconButton>
          <IconButton
            label={`Move item ${n} down`}
            size="icon-sm"
            disabled={!b.hasMoveDown}
            onClick={b.onMoveDownItem}
          >
            <ArrowDown />
          </IconButton>
          <IconButton
            label={`Remove item ${n}`}
            size="icon-sm"
            disabled={!b.hasRemove}
            onClick={b.onRemoveItem}
          >
            <X />
          </IconButton>
        </div>
      )}
    </div>
  );
}

function AddButton({ onClick, disabled }: IconButtonProps) {
  return (
    <Button size="sm" className="justify-self-start" onClick={onClick} disabled={disabled}>
      <Plus /> Add item
    </Button>
  );
}

function RemoveButton({ onClick, disabled }: IconButtonProps) {
  return (
    <IconButton label="Remove" size="icon-sm" onClick={onClick} disabled={disabled}>
      <X />
    </IconButton>
  );
}

/** The name of a group; that of an item of a list is counted, and never "required". */
function Title({ id, title, required }: TitleFieldProps) {
  const item = /_(\d+)__title$/.exec(id);
  return (
    <legend id={id} className="font-mono text-xs!">
      {item ? title.replace(/-(\d+)\*?$/, " $1") : title}
      {required && !item && <span className="font-normal font-sans text-ink-3"> required</span>}
    </legend>
  );
}

/** The choice between several schemas, and the fields of the chosen one. */
function OneOf({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  const { label } = (selector as ReactElement<{ label?: string }> | undefined)?.props ?? {};
  return (
    <div className="grid gap-2">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the selector is the control */}
      <label className="grid">
        <span className="sr-only">Kind of {label}</span>
        {selector}
      </label>
      {optionSchemaField}
    </div>
  );
}

/** Several of a list are boxes to tick: a list box would want Ctrl held. */
function Select(props: WidgetProps) {
  if (!props.multiple) return <SelectWidget {...props} />;
  return (
    <div role="group" aria-label={props.label}>
      <CheckboxesWidget {...props} />
    </div>
  );
}

const widgets = { SelectWidget: Select };

const templates = {
  FieldTemplate,
  TitleFieldTemplate: Title,
  MultiSchemaFieldTemplate: OneOf,
  ArrayFieldItemTemplate: ArrayItem,
  DescriptionFieldTemplate: ({ description, id }: { description?: unknown; id?: string }) =>
    description ? (
      <p id={id} className="text-ink-3 text-xs">
        {description as string}
      </p>
    ) : null,
  FieldErrorTemplate: ({ errors = [] }: { errors?: unknown[] }) => (
    <p className="text-danger text-xs">{errors.map(String).join(" ")}</p>
  ),
  ErrorListTemplate: () => null,
  ButtonTemplates: { AddButton, RemoveButton, SubmitButton: () => null },
};

// A schema's own title repeats the tool's name above every form.
function withoutTitle(schema: Record<string, unknown>): RJSFSchema {
  const { title: _title, description: _description, $schema: _schema, ...rest } = schema;
  return forForm(rest) as RJSFSchema;
}

export default function SchemaFormImpl({ schema, value, onChange, disabled, idPrefix }: SchemaFormProps) {
  const shown = useMemo(() => withoutTitle(schema), [schema]);
  return (
    <Form
      tagName="div"
      className="schema-form"
      schema={shown}
      formData={value}
      validator={validator}
      templates={templates as never}
      widgets={widgets}
      disabled={disabled}
      idPrefix={idPrefix}
      noHtml5Validate
      showErrorList={false}
      onChange={(e) => onChange((e.formData ?? {}) as Record<string, unknown>)}
    />
  );
}
