CREATE TABLE "webhook_deliveries" (
	"position" bigint NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"created" bigint NOT NULL,
	"due" bigint NOT NULL,
	"claim" integer DEFAULT 0 NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"first_attempt" bigint,
	"last_attempt" bigint,
	"status" integer,
	"error" text,
	CONSTRAINT "webhook_deliveries_position_endpoint_id_pk" PRIMARY KEY("position","endpoint_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"endpoint_id" uuid PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"url" text NOT NULL,
	"types" text[],
	"created" bigint NOT NULL,
	"paused" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_secrets" (
	"secret_id" uuid PRIMARY KEY NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"key_id" text NOT NULL,
	"sealed" text NOT NULL,
	"created" bigint NOT NULL,
	"until" bigint,
	"request_hash" text,
	CONSTRAINT "webhook_secrets_request_hash_unique" UNIQUE("request_hash")
);
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_position_events_position_fk" FOREIGN KEY ("position") REFERENCES "public"."events"("position") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_biz_id_partners_biz_id_fk" FOREIGN KEY ("biz_id") REFERENCES "public"."partners"("biz_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_secrets" ADD CONSTRAINT "webhook_secrets_endpoint_id_webhook_endpoints_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("endpoint_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("endpoint_id","due") WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_event" ON "webhook_deliveries" USING btree ("endpoint_id","event_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","created","event_id");--> statement-breakpoint
CREATE INDEX "webhook_endpoints_of_partner" ON "webhook_endpoints" USING btree ("biz_id","created","endpoint_id");--> statement-breakpoint
CREATE INDEX "webhook_secrets_of_endpoint" ON "webhook_secrets" USING btree ("endpoint_id","created");