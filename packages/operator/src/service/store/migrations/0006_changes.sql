CREATE TABLE "audit_entries" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"position" bigserial PRIMARY KEY NOT NULL,
	"biz_id" text,
	"user_id" text,
	"data" jsonb NOT NULL,
	"at" bigint NOT NULL,
	"action" text NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text,
	"actor_name" text,
	"actor_token" text,
	"request_id" text,
	"address" text
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"position" bigserial PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"user_id" text,
	"data" jsonb NOT NULL,
	"at" bigint NOT NULL,
	"xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"type" text NOT NULL,
	"dispatched" bigint
);
--> statement-breakpoint
CREATE INDEX "audit_entries_by_time" ON "audit_entries" USING btree ("at","position");--> statement-breakpoint
CREATE INDEX "audit_entries_of_partner" ON "audit_entries" USING btree ("biz_id","at","position");--> statement-breakpoint
CREATE INDEX "audit_entries_of_user" ON "audit_entries" USING btree ("user_id","at","position");--> statement-breakpoint
CREATE INDEX "events_of_partner" ON "events" USING btree ("biz_id","xid","position");--> statement-breakpoint
CREATE INDEX "events_to_dispatch" ON "events" USING btree ("position") WHERE "events"."dispatched" is null;--> statement-breakpoint
-- The audit log is append-only. Only a transaction that says so deletes entries: those whose retention is over.
CREATE FUNCTION "keep_audit_entries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' AND current_setting('keyroot.audit_retention', true) = 'on' THEN
		RETURN NULL;
	END IF;
	RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE TRIGGER "keep_audit_entries" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_entries" FOR EACH STATEMENT EXECUTE FUNCTION "keep_audit_entries"();
