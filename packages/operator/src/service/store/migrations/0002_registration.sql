CREATE TABLE "key_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"type" text NOT NULL,
	"key_id" text NOT NULL,
	"at" bigint NOT NULL,
	"after_withdrawal" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "offered_keys" (
	"user_id" text NOT NULL,
	"key_id" text NOT NULL,
	"pub_key" text NOT NULL,
	"offered" bigint NOT NULL,
	"withdrawn" boolean NOT NULL,
	"decided" bigint,
	CONSTRAINT "offered_keys_user_id_key_id_pk" PRIMARY KEY("user_id","key_id")
);
--> statement-breakpoint
CREATE TABLE "possession_challenges" (
	"nonce" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"pub_key" text NOT NULL,
	"response_hash" text NOT NULL,
	"expires" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "public_keys" ADD COLUMN "possession" text DEFAULT 'unproven' NOT NULL;--> statement-breakpoint
ALTER TABLE "public_keys" ADD COLUMN "publishable_at" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "public_keys" ADD COLUMN "disputed" bigint;--> statement-breakpoint
ALTER TABLE "public_keys" ADD COLUMN "submitted" bigint;--> statement-breakpoint
ALTER TABLE "key_events" ADD CONSTRAINT "key_events_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offered_keys" ADD CONSTRAINT "offered_keys_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "possession_challenges" ADD CONSTRAINT "possession_challenges_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "key_events_of_user" ON "key_events" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "possession_challenges_of_user" ON "possession_challenges" USING btree ("user_id","expires");